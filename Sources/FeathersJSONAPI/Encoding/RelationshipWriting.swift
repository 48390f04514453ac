import FeathersCore

/// What a property's type must be to be written as a relationship; models themselves are told by ``JSONAPIRelatable``.
protocol RelationshipWriting {
    /// The relationship to write.
    /// - Throws: ``JSONAPIError`` without a place where a target has neither an id nor a local one.
    func relationship() throws(JSONAPIError) -> JSONAPIRelationship
}

extension ToOne: RelationshipWriting {
    func relationship() throws(JSONAPIError) -> JSONAPIRelationship {
        if let linkage { return JSONAPIRelationship(linkage, meta: meta) }
        guard let value else { return JSONAPIRelationship(.null, meta: meta) }
        return JSONAPIRelationship(.one(try value.requiredIdentifier()), meta: meta)
    }
}

extension ToMany: RelationshipWriting {
    func relationship() throws(JSONAPIError) -> JSONAPIRelationship {
        if let identifiers { return JSONAPIRelationship(.many(identifiers), meta: meta) }
        var relationship = try values.relationship()
        relationship.meta = meta
        return relationship
    }
}

extension Array: RelationshipWriting where Element: JSONAPIRelatable {
    func relationship() throws(JSONAPIError) -> JSONAPIRelationship {
        var identifiers: [JSONAPIIdentifier] = []
        for element in self { identifiers.append(try element.requiredIdentifier()) }
        return JSONAPIRelationship(.many(identifiers))
    }
}

/// A relationship that is emptied, whatever it leads to.
struct EmptyRelationship: RelationshipWriting, Encodable {
    func relationship() -> JSONAPIRelationship { JSONAPIRelationship(.null) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }
}

extension JSONAPIRelatable {
    func requiredIdentifier() throws(JSONAPIError) -> JSONAPIIdentifier {
        guard let identifier = jsonAPIIdentifier else {
            throw JSONAPIError(.root, "The target of a relationship has no id: save it first, or give it a 'lid'")
        }
        return identifier
    }
}

extension KeyedEncodingContainer {
    /// Calls the container's own method: the overloads for relationships are not seen from here.
    mutating func encodeAsItIs<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encode(value, forKey: key)
    }
}
