import FeathersCore

/// The parts of a resource other than attributes, collected while a model is encoded.
final class EncodedResource {
    let codec: JSONAPICodec
    let readOnly: Set<String>
    var id: String?
    var lid: String?
    var relationships = JSONAPIRelationships()
    var meta: JSONObject?

    init(codec: JSONAPICodec, readOnly: Set<String>) {
        self.codec = codec
        self.readOnly = readOnly
    }
}

/// Encodes a model with the JSON encoder, which receives only the attributes.
struct ResourceEncoding<Model: JSONAPIModel>: Encodable {
    let model: Model
    let resource: EncodedResource

    func encode(to encoder: any Encoder) throws {
        try model.encode(to: ResourceEncoder(attributes: encoder, resource: resource))
        // A model without attributes would otherwise not request a container.
        _ = encoder.container(keyedBy: WireKey.self)
    }
}

private struct ResourceEncoder: Encoder {
    let attributes: any Encoder
    let resource: EncodedResource

    var codingPath: [any CodingKey] { attributes.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { attributes.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(
            ResourceEncodingContainer<Key>(attributes: attributes.container(keyedBy: WireKey.self), resource: resource))
    }

    // A model without a keyed container cannot be a resource; the JSON encoder reports the error.
    func unkeyedContainer() -> any UnkeyedEncodingContainer { attributes.unkeyedContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { attributes.singleValueContainer() }
}

struct WireKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

/// The container that writes attributes to the JSON encoder and everything else to the resource.
private struct ResourceEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var attributes: KeyedEncodingContainer<WireKey>
    let resource: EncodedResource

    var codingPath: [any CodingKey] { attributes.codingPath }

    private func wireKey(_ key: Key) -> WireKey { WireKey(resource.codec.keys.wireName(of: key.stringValue)) }

    /// Returns the key for an attribute or a relationship; nil for other members and for read-only properties.
    private func fieldKey(_ key: Key) -> WireKey? {
        let name = key.stringValue
        guard name != "type", name != "id", name != "lid", !resource.readOnly.contains(name) else { return nil }
        return wireKey(key)
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        guard let name = fieldKey(key) else {
            if key.stringValue == "id", let id = value as? any JSONAPIModelID { resource.id = id.jsonAPIText }
            return
        }
        switch value {
        // A property that is not optional is empty if the resource had no meta.
        case let meta as JSONAPIMeta: resource.meta = meta.json.isEmpty ? nil : meta.json
        case is JSONAPILinks: break
        case let related as any RelationshipWriting:
            try setRelationship(name) { () throws(JSONAPIError) in try related.relationship() }
        case let related as any JSONAPIRelatable:
            try setRelationship(name) { () throws(JSONAPIError) in
                JSONAPIRelationship(.one(try related.requiredIdentifier()))
            }
        default: try attributes.encode(value, forKey: name)
        }
    }

    private func setRelationship(_ key: WireKey, _ make: () throws(JSONAPIError) -> JSONAPIRelationship)
        throws(JSONAPIError)
    {
        do {
            resource.relationships[key.stringValue] = try make()
        } catch {
            throw JSONAPIError(JSONPointer.data.appending("relationships").appending(key.stringValue), error.message)
        }
    }

    mutating func encode(_ value: String, forKey key: Key) throws {
        if let name = fieldKey(key) {
            try attributes.encode(value, forKey: name)
        } else if key.stringValue == "id" {
            resource.id = value
        } else if key.stringValue == "lid" {
            resource.lid = value
        }
    }

    mutating func encodeNil(forKey key: Key) throws {
        if let name = fieldKey(key) { try attributes.encodeNil(forKey: name) }
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key)
        -> KeyedEncodingContainer<Nested>
    {
        attributes.nestedContainer(keyedBy: type, forKey: wireKey(key))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        attributes.nestedUnkeyedContainer(forKey: wireKey(key))
    }

    mutating func superEncoder() -> any Encoder { attributes.superEncoder() }
    mutating func superEncoder(forKey key: Key) -> any Encoder { attributes.superEncoder(forKey: wireKey(key)) }

    // The other primitive types differ only in their types.

    mutating func encode(_ value: Bool, forKey key: Key) throws { try encode(key) { try $0.encode(value, forKey: $1) } }
    mutating func encode(_ value: Double, forKey key: Key) throws {
        try encode(key) { try $0.encode(value, forKey: $1) }
    }
    mutating func encode(_ value: Float, forKey key: Key) throws {
        try encode(key) { try $0.encode(value, forKey: $1) }
    }
    mutating func encode(_ value: Int, forKey key: Key) throws {
        try encode(key, value) { try $0.encode(value, forKey: $1) }
    }
    mutating func encode(_ value: Int8, forKey key: Key) throws {
        try encode(key, value) { try $0.encode(value, forKey: $1) }
    }
    mutating func encode(_ value: Int16, forKey key: Key) throws {
        try encode(key, value) { try $0.encode(value, forKey: $1) }
    }
    mutating func encode(_ value: Int32, forKey key: Key) throws {
        try encode(key, value) { try $0.encode(value, forKey: $1) }
    }
    mutating func encode(_ value: Int64, forKey key: Key) throws {
        try encode(key, value) { try $0.encode(value, forKey: $1) }
    }
    mutating func encode(_ value: UInt, forKey key: Key) throws {
        try encode(key, value) { try $0.encode(value, forKey: $1) }
    }
    mutating func encode(_ value: UInt8, forKey key: Key) throws {
        try encode(key, value) { try $0.encode(value, forKey: $1) }
    }
    mutating func encode(_ value: UInt16, forKey key: Key) throws {
        try encode(key, value) { try $0.encode(value, forKey: $1) }
    }
    mutating func encode(_ value: UInt32, forKey key: Key) throws {
        try encode(key, value) { try $0.encode(value, forKey: $1) }
    }
    mutating func encode(_ value: UInt64, forKey key: Key) throws {
        try encode(key, value) { try $0.encode(value, forKey: $1) }
    }

    private mutating func encode(_ key: Key, _ write: (inout KeyedEncodingContainer<WireKey>, WireKey) throws -> Void)
        rethrows
    {
        if let name = fieldKey(key) { try write(&attributes, name) }
    }

    private mutating func encode(
        _ key: Key, _ id: some BinaryInteger, _ write: (inout KeyedEncodingContainer<WireKey>, WireKey) throws -> Void
    ) rethrows {
        if let name = fieldKey(key) {
            try write(&attributes, name)
        } else if key.stringValue == "id" {
            resource.id = String(id)
        }
    }
}
