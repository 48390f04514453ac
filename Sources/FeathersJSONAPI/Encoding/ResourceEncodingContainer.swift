import FeathersCore

/// Sends what a model writes where it belongs: attributes to the JSON encoder, everything else to the resource.
struct ResourceEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var attributes: KeyedEncodingContainer<WireKey>
    let resource: EncodedResource

    var codingPath: [any CodingKey] { attributes.codingPath }

    /// The key of an attribute, or nil for what is written otherwise or not at all.
    private func attributeKey(_ key: Key) -> WireKey? {
        let name = key.stringValue
        guard name != "type", name != "id", name != "lid", !resource.readOnly.contains(name) else { return nil }
        return WireKey(resource.codec.keys.wireName(of: name))
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        guard let name = attributeKey(key) else {
            if key.stringValue == "id", let id = value as? any JSONAPIModelID { resource.id = id.jsonAPIText }
            return
        }
        switch value {
        case let meta as JSONAPIMeta: resource.meta = meta.json
        case is JSONAPILinks: break
        case let related as any RelationshipWriting: try setRelationship(name) { () throws(JSONAPIError) in try related.relationship() }
        case let related as any JSONAPIRelatable:
            try setRelationship(name) { () throws(JSONAPIError) in JSONAPIRelationship(.one(try related.requiredIdentifier())) }
        default: try attributes.encode(value, forKey: name)
        }
    }

    private func setRelationship(_ key: WireKey, _ make: () throws(JSONAPIError) -> JSONAPIRelationship) throws(JSONAPIError) {
        do {
            resource.relationships[key.stringValue] = try make()
        } catch {
            throw JSONAPIError(JSONPointer.root.appending("data").appending("relationships").appending(key.stringValue), error.message)
        }
    }

    mutating func encode(_ value: String, forKey key: Key) throws {
        if let name = attributeKey(key) {
            try attributes.encode(value, forKey: name)
        } else if key.stringValue == "id" {
            resource.id = value
        } else if key.stringValue == "lid" {
            resource.lid = value
        }
    }

    mutating func encodeNil(forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encodeNil(forKey: name) }
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
        attributes.nestedContainer(keyedBy: type, forKey: WireKey(resource.codec.keys.wireName(of: key.stringValue)))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        attributes.nestedUnkeyedContainer(forKey: WireKey(resource.codec.keys.wireName(of: key.stringValue)))
    }

    mutating func superEncoder() -> any Encoder { attributes.superEncoder() }
    mutating func superEncoder(forKey key: Key) -> any Encoder {
        attributes.superEncoder(forKey: WireKey(resource.codec.keys.wireName(of: key.stringValue)))
    }
}

/// The primitives but strings, which differ in their types alone.
extension ResourceEncodingContainer {
    mutating func encode(_ value: Bool, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) }
    }

    mutating func encode(_ value: Double, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) }
    }

    mutating func encode(_ value: Float, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) }
    }

    mutating func encode(_ value: Int, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) } else { setID(value, forKey: key) }
    }

    mutating func encode(_ value: Int8, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) } else { setID(value, forKey: key) }
    }

    mutating func encode(_ value: Int16, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) } else { setID(value, forKey: key) }
    }

    mutating func encode(_ value: Int32, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) } else { setID(value, forKey: key) }
    }

    mutating func encode(_ value: Int64, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) } else { setID(value, forKey: key) }
    }

    mutating func encode(_ value: UInt, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) } else { setID(value, forKey: key) }
    }

    mutating func encode(_ value: UInt8, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) } else { setID(value, forKey: key) }
    }

    mutating func encode(_ value: UInt16, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) } else { setID(value, forKey: key) }
    }

    mutating func encode(_ value: UInt32, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) } else { setID(value, forKey: key) }
    }

    mutating func encode(_ value: UInt64, forKey key: Key) throws {
        if let name = attributeKey(key) { try attributes.encode(value, forKey: name) } else { setID(value, forKey: key) }
    }

    private func setID(_ value: some BinaryInteger, forKey key: Key) {
        if key.stringValue == "id" { resource.id = String(value) }
    }
}
