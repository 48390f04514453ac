import FeathersJSON

/// The positions of a document's resources by their identity. Of repeated resources, the first one counts.
struct ResourceIndex {
    private var positions: [ResourceKey: Int] = [:]

    init(_ resources: [ResourceSource]) {
        // Without relationships, no resource is ever looked up.
        guard resources.contains(where: { $0.relationships != nil }) else { return }
        positions.reserveCapacity(resources.count)
        for (position, resource) in resources.enumerated() {
            if let id = resource.id { insert(ResourceKey(type: resource.type, id: id), position) }
            if let lid = resource.lid { insert(ResourceKey(type: resource.type, id: lid, isLocal: true), position) }
        }
    }

    private mutating func insert(_ key: ResourceKey, _ position: Int) {
        if positions[key] == nil { positions[key] = position }
    }

    /// The position of the resource with an identifier; nil if there is none, or if the identifier is invalid.
    func position(of identifier: JSONValue) -> Int? { ResourceKey(reading: identifier).flatMap { positions[$0] } }
}
