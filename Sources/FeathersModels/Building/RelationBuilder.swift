import FeathersJSON

// The relations of the services' models, from the properties that hold ids of other services' records.
extension ModelBuilder {
    /// A property that holds ids, and the services with the property and with the records, by their indices.
    private struct Reference {
        var source: Int
        var target: Int
        var property: SwiftProperty
        var isList: Bool
        /// The name of the relation, if it is free: that of the property, without `ID`.
        var name: String
        /// The property in which the server embeds the record.
        var embedded: String?
    }

    /// Adds the relations to the models of both services: to the records that a property refers to, and back.
    mutating func addRelations(to services: inout [SwiftService], _ objects: [ObjectShape]) {
        let paths = Dictionary(zip(services.map(\.path), services.indices)) { first, _ in first }
        let all = zip(services.indices, objects).flatMap { references(from: $0, $1, services, paths) }
        let toOne = all.filter { !$0.isList }
        var members = services.map { service in
            let model = service.structure
            let nested = model?.nested.compactMap { $0.path.split(separator: ".").last.map(String.init) } ?? []
            // A static property may have the name of a property: `Message.user` beside `message.user`.
            return NameSpace(SwiftNames.takenMembers.union(["relation"]).union(nested))
        }
        var relations = services.map { _ in [SwiftRelation]() }
        for reference in all {
            let (target, isList) = (services[reference.target], reference.isList)
            let record = isList ? SwiftNames.singular(reference.name) + "Records" : reference.name + "Record"
            let name = members[reference.source].take([reference.name, record], unless: { isTakenInside($0) })
            let property = reference.property.name
            relations[reference.source].append(
                SwiftRelation(
                    name: name, to: target, isList: isList, by: isList ? "byAll" : "by", property,
                    embedded: reference.embedded,
                    comment: "The record\(isList ? "s" : "") of service '\(target.path)' whose "
                        + "id\(isList ? "s are" : " is") in `\(property)`."))
        }
        let counts = toOne.reduce(into: [[Int]: Int]()) { $0[[$1.source, $1.target], default: 0] += 1 }
        // A relation has one path, so the path cannot have parameters.
        for reference in toOne where services[reference.source].parameters.isEmpty {
            let (source, property) = (services[reference.source], reference.property.name)
            let isOnly = counts[[reference.source, reference.target]] == 1 && reference.source != reference.target
            let long = source.name + "By" + reference.name.prefix(1).uppercased() + reference.name.dropFirst()
            let name = members[reference.target].take(
                (isOnly ? [source.name] : []) + [long], unless: { isTakenInside($0) })
            relations[reference.target].append(
                SwiftRelation(
                    name: name, to: source, isList: true, by: "by", property,
                    comment: "The records of service '\(source.path)' that refer to this one by `\(property)`."))
        }
        for index in services.indices { services[index].relations = relations[index] }
    }

    private mutating func references(
        from source: Int, _ object: ObjectShape, _ services: [SwiftService], _ paths: [String: Int]
    ) -> [Reference] {
        guard let model = services[source].structure else { return [] }
        let properties = Dictionary(model.properties.map { ($0.key, $0) }) { first, _ in first }
        let named = Dictionary(model.properties.map { ($0.name, $0) }) { first, _ in first }
        let queryKeys = Set(model.model?.queryKeys?.map(\.key) ?? model.properties.map(\.key))
        return object.properties.compactMap { key, schema in
            guard let property = properties[key], let written = reference(in: schema) else { return nil }
            let path = written.json.string.map { $0.split(separator: "/").joined(separator: "/") }
            let target = path.flatMap { paths[$0] }
            var (isList, reason) = (false, String?.none)
            switch property.type {
            case .list(.list), .list(.dictionary), .dictionary: reason = "it holds neither an id nor a list of ids"
            case .list: isList = true
            default: break
            }
            if !queryKeys.contains(key) { reason = "queries cannot name it" }
            if let target, !services[target].parameters.isEmpty { reason = "the path '\(path ?? "")' has parameters" }
            guard let target, reason == nil else {
                let reason = reason ?? "there is no service '\(path ?? written.json.description)'"
                reader.warn(written.place, "property '\(key)' has no relation: \(reason)")
                return nil
            }
            let name = Self.name(of: key, isList: isList, services[target])
            // Another property of that model, such as `lastEditor` beside `authorId`, may be another record.
            let beside = isList || name == property.name ? nil : named[name]
            let isEmbedded = beside?.type == .named(services[target].model)
            return Reference(
                source: source, target: target, property: property, isList: isList, name: name,
                embedded: isEmbedded ? beside?.key : nil)
        }
    }

    /// Returns the reference that the schema of a property, of its alternatives, or of its elements has.
    private func reference(in schema: Schema) -> Schema? {
        var (waiting, count) = ([schema], 0)
        // Schemas may contain themselves; a reference is near the property.
        while let next = waiting.popLast(), count < 32 {
            count += 1
            guard let target = reader.library.resolved(next) else { continue }
            if let found = next["x-references"] ?? target["x-references"] { return found }
            waiting += (["allOf", "anyOf", "oneOf"].flatMap(target.list) + [target["items"]].compactMap(\.self))
                .reversed()
        }
        return nil
    }

    /// Returns `author` for `authorId`, `tags` for the list `tagIds`, and for an `id` the name of the other model.
    private static func name(of key: String, isList: Bool, _ target: SwiftService) -> String {
        let name = SwiftNames.property(key)
        if ["", "id", "ids"].contains(name) { return SwiftNames.property(target.model) }
        guard let ending = ["ID", "IDs"].first(where: name.hasSuffix) else { return name }
        let base = String(name.dropLast(ending.count))
        return isList ? SwiftNames.plural(SwiftNames.singular(base)) : base
    }
}
