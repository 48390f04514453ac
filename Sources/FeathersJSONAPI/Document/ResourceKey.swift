import FeathersCore

/// What a resource is found by in a document: its type and id, or local id, told apart by their bytes.
struct ResourceKey: Hashable {
    let type: String
    let id: String
    let isLocal: Bool

    init(type: String, id: String, isLocal: Bool = false) {
        self.type = type
        self.id = id
        self.isLocal = isLocal
    }

    init?(reading json: JSONValue) {
        guard case .object(let object) = json, case .string(let type)? = object["type"] else { return nil }
        if let id = object["id"].flatMap(JSONAPIResource.identifierText) {
            self.init(type: type, id: id)
        } else if case .string(let lid)? = object["lid"] {
            self.init(type: type, id: lid, isLocal: true)
        } else {
            return nil
        }
    }

    static func == (left: ResourceKey, right: ResourceKey) -> Bool {
        left.isLocal == right.isLocal && left.id.isExactly(right.id) && left.type.isExactly(right.type)
    }

    func hash(into hasher: inout Hasher) {
        Self.hash(type, into: &hasher)
        Self.hash(id, into: &hasher)
        hasher.combine(isLocal)
    }

    private static func hash(_ text: String, into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}
