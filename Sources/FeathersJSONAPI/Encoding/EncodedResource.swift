import FeathersCore

/// What a model has written that is no attribute.
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

/// Stands between a model and the JSON encoder that writes its attributes, and keeps what is none.
struct ResourceEncoding<Model: JSONAPIModel>: Encodable {
    let model: Model
    let resource: EncodedResource

    func encode(to encoder: any Encoder) throws {
        try model.encode(to: ResourceEncoder(attributes: encoder, resource: resource))
        // Where there are relationships alone the encoder has heard of nothing yet.
        _ = encoder.container(keyedBy: WireKey.self)
    }
}

/// The encoder that a model sees.
struct ResourceEncoder: Encoder {
    let attributes: any Encoder
    let resource: EncodedResource

    var codingPath: [any CodingKey] { attributes.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { attributes.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(ResourceEncodingContainer<Key>(attributes: attributes.container(keyedBy: WireKey.self), resource: resource))
    }

    // A model that writes no keyed container is no resource, which the JSON encoder says.
    func unkeyedContainer() -> any UnkeyedEncodingContainer { attributes.unkeyedContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { attributes.singleValueContainer() }
}

/// A coding key by its name in a document.
struct WireKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) {
        stringValue = name
    }

    init?(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        nil
    }
}
