import FeathersCore

/// What is decoded from a relationship as a whole; everything else is decoded from its target.
protocol RelationshipReading {
    init(_ node: RelationshipNode) throws
}

extension ToOne: RelationshipReading {
    init(_ node: RelationshipNode) throws {
        let links = JSONAPILinks(node.relationship["links"]?.object ?? [:])
        let meta = node.relationship["meta"]?.object
        guard let data = node.data else {
            self.init(linkage: nil, value: nil, links: links, meta: meta)
            return
        }
        guard !data.isNull else {
            self.init(linkage: .null, value: nil, links: links, meta: meta)
            return
        }
        guard let identifier = JSONAPIIdentifier(reading: data) else {
            throw node.mismatch(Self.self, "The relationship leads to no single resource")
        }
        self.init(linkage: .one(identifier), value: try node.included(Value.self, data), links: links, meta: meta)
    }
}

extension ToMany: RelationshipReading {
    init(_ node: RelationshipNode) throws {
        let links = JSONAPILinks(node.relationship["links"]?.object ?? [:])
        let meta = node.relationship["meta"]?.object
        guard let data = node.data else {
            self.init(identifiers: nil, values: [], links: links, meta: meta)
            return
        }
        let elements = try node.elements(of: data, for: Self.self)
        var identifiers: [JSONAPIIdentifier] = []
        var values: [Value] = []
        identifiers.reserveCapacity(elements.count)
        for element in elements {
            guard let identifier = JSONAPIIdentifier(reading: element) else { continue }
            identifiers.append(identifier)
            if let value = try node.included(Value.self, element) { values.append(value) }
        }
        self.init(identifiers: identifiers, values: values, links: links, meta: meta)
    }
}

extension Array: RelationshipReading where Element: Decodable {
    /// The targets that came along, and those that an identifier is enough for.
    init(_ node: RelationshipNode) throws {
        guard let data = node.data else {
            self = []
            return
        }
        self = try node.elements(of: data, for: Self.self).compactMap { try node.related(Element.self, $0) }
    }
}

extension RelationshipNode {
    /// The identifiers of a to-many relationship; null, which some servers write for none, counts as that.
    fileprivate func elements(of data: JSONValue, for type: any Any.Type) throws -> [JSONValue] {
        switch data {
        case .array(let elements): return elements
        case .null: return []
        default: throw mismatch(type, "The relationship leads to a single resource")
        }
    }

    /// Decodes the target of an identifier where it came along; nil also where a circle is cut.
    fileprivate func included<Model: Decodable>(_ type: Model.Type, _ identifier: JSONValue) throws -> Model? {
        if type == JSONAPIIdentifier.self { return try related(type, identifier) }
        guard let key = ResourceKey(reading: identifier), let position = pool.position(of: key) else { return nil }
        if let expected = pool.expectedType(type), expected != key.type { return nil }
        do {
            return try pool.decodeRelated(type, at: position)
        } catch is JSONAPIUnknownType {
            return nil
        }
    }
}
