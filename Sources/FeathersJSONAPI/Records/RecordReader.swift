import FeathersCore

/// Makes a resource of a plain record, and of the records inside it.
///
/// A field is a relationship where `@relationships` names it, or where it holds an object with a `type` and an `id` or a `lid`, or an array of such.
struct RecordReader {
    let codec: JSONAPICodec
    /// The relationships that are known to be some, by their properties' names.
    let relationships: Set<String>
    /// The records inside, as resources.
    private(set) var included: [JSONAPIResource] = []
    private var depth = 0

    init(codec: JSONAPICodec, relationships: Set<String> = []) {
        self.codec = codec
        self.relationships = relationships
    }

    /// The resource of a record.
    /// - Parameter type: what a record without a `type` is.
    mutating func resource(_ record: JSONObject, type: String?) throws(JSONAPIError) -> JSONAPIResource {
        let pointer = JSONPointer.root.appending("data")
        guard let type = record["type"]?.string ?? type else {
            throw JSONAPIError(pointer.appending("type"), "The record has no 'type'")
        }
        var resource = JSONAPIResource(
            type: type, id: try id(record["id"], at: pointer.appending("id")), lid: record["lid"]?.string, meta: record["@meta"]?.object)
        resource.links = JSONAPILinks(record["@links"]?.object ?? [:])
        let notes = record["@relationships"]?.object ?? [:]
        for (property, value) in record {
            if property == "id" || property == "type" || property == "lid" || MemberName.isAtMember(property) { continue }
            let name = codec.keys.wireName(of: property)
            let isKnown = notes[property] != nil || (depth == 0 && relationships.contains(property))
            if isKnown || value.isLinkage {
                let linkage = try linkage(value, at: pointer.appending("relationships").appending(name))
                resource.relationships[name] = JSONAPIRelationship(linkage)
            } else {
                resource.attributes[name] = value
            }
        }
        for (property, note) in notes {
            let name = codec.keys.wireName(of: property)
            var relationship = resource.relationships[name] ?? JSONAPIRelationship()
            relationship.links = JSONAPILinks(note["links"]?.object ?? [:])
            relationship.meta = note["meta"]?.object
            resource.relationships[name] = relationship
        }
        return resource
    }

    private func id(_ json: JSONValue?, at pointer: JSONPointer) throws(JSONAPIError) -> String? {
        guard let json, !json.isNull else { return nil }
        guard let id = JSONAPIResource.identifierText(json) else { throw JSONAPIError(pointer, "An id must be a string or an integer") }
        return id
    }

    private mutating func linkage(_ value: JSONValue, at pointer: JSONPointer) throws(JSONAPIError) -> JSONAPILinkage {
        switch value {
        case .null: return .null
        case .array(let elements):
            var identifiers: [JSONAPIIdentifier] = []
            for (index, element) in elements.enumerated() { identifiers.append(try identifier(element, at: pointer.appending(index))) }
            return .many(identifiers)
        default: return .one(try identifier(value, at: pointer))
        }
    }

    private mutating func identifier(_ value: JSONValue, at pointer: JSONPointer) throws(JSONAPIError) -> JSONAPIIdentifier {
        guard let record = value.object, let identifier = JSONAPIIdentifier(reading: value) else {
            throw JSONAPIError(pointer, "The target of a relationship must have a 'type', and an 'id' or a 'lid'")
        }
        // More than an identifier: the resource itself.
        if record.contains(where: { !["id", "type", "lid", "meta"].contains($0.key) }), depth < codec.maximumNesting {
            depth += 1
            defer { depth -= 1 }
            included.append(try resource(record, type: nil))
        }
        return identifier
    }
}

extension JSONValue {
    /// Whether this can only be what a relationship holds.
    fileprivate var isLinkage: Bool {
        switch self {
        case .object: JSONAPIIdentifier(reading: self) != nil
        case .array(let elements): !elements.isEmpty && elements.allSatisfy { $0.object != nil && JSONAPIIdentifier(reading: $0) != nil }
        default: false
        }
    }
}
