import FeathersCore

/// The decoder that a model sees: one resource, and the way to its relationships' targets.
final class ResourceNode: Decoder {
    let resource: JSONAPIResource
    let pool: ResourcePool
    private var base: (any Decoder)?

    init(_ resource: JSONAPIResource, pool: ResourcePool) {
        self.resource = resource
        self.pool = pool
    }

    // Coding paths start at the resource's attributes; errors get the resource's own place when they leave it.
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { (try? attributes().userInfo) ?? [:] }

    /// The JSON decoder of the attributes.
    func attributes() throws -> any Decoder {
        if let base { return base }
        let decoder = try pool.codec.coding.decode(CapturedDecoder.self, from: .object(resource.attributes)).decoder
        base = decoder
        return decoder
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(
            ResourceDecodingContainer<Key>(node: self, attributes: try attributes().container(keyedBy: WireKey.self)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try attributes().unkeyedContainer()
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try attributes().singleValueContainer()
    }
}

/// Gets hold of the decoder that the project's JSON decoder gives a type.
private struct CapturedDecoder: Decodable {
    let decoder: any Decoder

    init(from decoder: any Decoder) {
        self.decoder = decoder
    }
}

extension JSONAPIError {
    /// An error of decoding, with its place in the document.
    init(_ error: DecodingError, in resource: JSONAPIResource, at pointer: JSONPointer) {
        func place(_ context: DecodingError.Context, _ missing: (any CodingKey)? = nil) -> JSONPointer {
            let path = context.codingPath + (missing.map { [$0] } ?? [])
            guard let first = path.first else { return pointer }
            let isMember = first.stringValue == "id" || first.stringValue == "lid" || first.stringValue == "type"
            let isRelationship = resource.relationships.json[first.stringValue] != nil
            let start = isMember ? pointer : pointer.appending(isRelationship ? "relationships" : "attributes")
            return path.reduce(start) { pointer, key in key.intValue.map(pointer.appending) ?? pointer.appending(key.stringValue) }
        }
        switch error {
        case .keyNotFound(let key, let context): self.init(place(context, key), "'\(key.stringValue)' is missing")
        case .valueNotFound(let type, let context): self.init(place(context), "\(type) is expected, not null")
        case .typeMismatch(let type, let context): self.init(place(context), "\(type) is expected")
        case .dataCorrupted(let context): self.init(place(context), context.debugDescription)
        @unknown default: self.init(pointer, "The resource cannot be decoded")
        }
    }
}
