import FeathersCore

/// What a compound document must keep to as a whole: no resource twice, and none that nothing leads to.
extension DocumentValidator {
    mutating func checkCompound(_ document: JSONObject) {
        let primary = document["data"].map { $0.array ?? [$0] } ?? []
        let included = document["included"]?.array ?? []
        // Identifiers of a relationship may repeat nothing either, so that they need no exception.
        var seen = Set<ResourceKey>()
        let isList = document["data"]?.array != nil
        let data = JSONPointer.root.appending("data")
        for (index, resource) in primary.enumerated() {
            checkUnique(resource, at: isList ? data.appending(index) : data, &seen)
        }
        for (index, resource) in included.enumerated() {
            checkUnique(resource, at: JSONPointer.root.appending("included").appending(index), &seen)
        }
        if role != .sparseResponse { checkFullLinkage(from: primary, to: included) }
    }

    private mutating func checkUnique(_ json: JSONValue, at pointer: JSONPointer, _ seen: inout Set<ResourceKey>) {
        guard let key = ResourceKey(reading: json), !seen.insert(key).inserted else { return }
        report(pointer, "The resource stands in the document twice")
    }

    /// Walks from the primary data along the linkage.
    private mutating func checkFullLinkage(from primary: [JSONValue], to included: [JSONValue]) {
        guard !included.isEmpty else { return }
        var indices: [ResourceKey: Int] = [:]
        for (index, resource) in included.enumerated() {
            if let key = ResourceKey(reading: resource), indices[key] == nil { indices[key] = index }
        }
        var isReached = [Bool](repeating: false, count: included.count)
        var pending = primary
        // Identifiers are primary data too, and lead to what they name.
        for resource in primary {
            if let index = ResourceKey(reading: resource).flatMap({ indices[$0] }), !isReached[index] {
                isReached[index] = true
                pending.append(included[index])
            }
        }
        while let resource = pending.popLast() {
            for (_, relationship) in resource["relationships"]?.object ?? [:] {
                guard let data = relationship["data"] else { continue }
                for target in data.array ?? [data] {
                    guard let index = ResourceKey(reading: target).flatMap({ indices[$0] }), !isReached[index] else { continue }
                    isReached[index] = true
                    pending.append(included[index])
                }
            }
        }
        for index in included.indices
        where !isReached[index] && ResourceKey(reading: included[index]).map({ indices[$0] == index }) ?? false {
            report(JSONPointer.root.appending("included").appending(index), "Nothing in the document links to this resource")
        }
    }
}
