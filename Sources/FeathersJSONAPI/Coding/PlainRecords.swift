import FeathersCore

/// Creates plain records from a document's resources, with the targets of their relationships nested.
///
/// A record has an `id`, a `type`, and each attribute and relationship under its property's name. A relationship is
/// null, a record, or an array of records; a resource that is not included appears as its identifier. Other content
/// uses member names that fields cannot have: `@links`, `@meta`, `@relationships`, which holds the links and meta of
/// each relationship, and `@attributes`, which names the attributes that look like relationships.
struct RecordMaker {
    private let pool: ResourcePool
    private var path: [Int] = []
    /// The number of resources that may still be nested before identifiers take their place. Unlike models, records
    /// have no natural end.
    private var remaining: Int

    init(_ document: JSONAPIDocument, codec: JSONAPICodec) {
        pool = ResourcePool(DocumentSource(document), codec: codec)
        remaining = 1000 + 16 * pool.resources.count
    }

    /// Returns the record for the resource at a position. `include` names the relationships to nest; nil nests all
    /// included targets.
    mutating func record(at position: Int, including include: IncludePaths?) -> JSONValue {
        let resource = pool.resources[position]
        let keys = pool.codec.keys
        let attributes = resource.attributes
        var record = JSONObject(minimumCapacity: attributes.count + 4)
        if let id = resource.id { record["id"] = .string(id) }
        record["type"] = .string(resource.type)
        if let lid = resource.lid { record["lid"] = .string(lid) }
        var lookalikes: [JSONValue] = []
        for (name, value) in attributes where !MemberName.isAtMember(name) {
            let property = keys.propertyName(of: name)
            record[property] = value
            if value.isLinkage { lookalikes.append(.string(property)) }
        }
        if !lookalikes.isEmpty { record["@attributes"] = .array(lookalikes) }
        var notes: JSONObject = [:]
        path.append(position)
        for (name, json) in resource.relationships ?? [:] {
            guard !MemberName.isAtMember(name), case .object(let relationship) = json else { continue }
            let property = keys.propertyName(of: name)
            if let data = relationship["data"] {
                record[property] = value(of: data, including: include.map { $0.children[name] })
            }
            var note: JSONObject = [:]
            note["links"] = relationship["links"]
            note["meta"] = relationship["meta"]
            notes[property] = .object(note)
        }
        path.removeLast()
        if !notes.isEmpty { record["@relationships"] = .object(notes) }
        if !resource.links.isEmpty { record["@links"] = .object(resource.links.json) }
        if let meta = resource.meta { record["@meta"] = .object(meta) }
        return .object(record)
    }

    /// Returns the value of a relationship. An `include` of nil nests everything; an inner nil nests nothing.
    private mutating func value(of data: JSONValue, including include: IncludePaths??) -> JSONValue {
        switch data {
        case .array(let identifiers): .array(identifiers.map { target($0, including: include) })
        case .object: target(data, including: include)
        default: .null
        }
    }

    private mutating func target(_ identifier: JSONValue, including include: IncludePaths??) -> JSONValue {
        if case .some(.none) = include { return identifier }
        guard remaining > 0, path.count < pool.codec.maximumNesting, let position = pool.position(of: identifier),
            !path.contains(position)
        else { return identifier }
        remaining -= 1
        return record(at: position, including: include ?? nil)
    }
}

/// The tree of relationships for a path list such as `author,comments.author`. A plain record nests their targets.
struct IncludePaths {
    private(set) var children: [String: IncludePaths] = [:]

    /// - Parameter paths: Paths of names in documents.
    init(_ paths: some Sequence<String> = []) {
        for path in paths { insert(path.split(separator: ".").map(String.init)[...]) }
    }

    private mutating func insert(_ names: ArraySlice<String>) {
        guard let name = names.first else { return }
        children[name, default: IncludePaths()].insert(names.dropFirst())
    }
}

/// Creates resources from a plain record and the records inside it.
///
/// A field is a relationship if `@relationships` names it, or if it holds an object with a `type` and an `id` or a
/// `lid`, or an array of such objects, and `@attributes` does not name it.
struct RecordReader {
    private let codec: JSONAPICodec
    private let relationships: Set<String>
    private(set) var included: [JSONAPIResource] = []
    private var depth = 0

    init(codec: JSONAPICodec, relationships: Set<String> = []) {
        self.codec = codec
        self.relationships = relationships
    }

    /// Returns the resource for a record. `type` applies to a record without a `type`.
    mutating func resource(_ record: JSONObject, type: String?) throws(JSONAPIError) -> JSONAPIResource {
        guard let type = record["type"]?.string ?? type else {
            throw JSONAPIError(.data.appending("type"), "The record has no 'type'")
        }
        var resource = JSONAPIResource(
            type: type, id: try id(record["id"]), lid: record["lid"]?.string,
            links: JSONAPILinks(reading: record["@links"]),
            meta: record["@meta"]?.object)
        let notes = record["@relationships"]?.object ?? [:]
        let lookalikes = record["@attributes"]?.array ?? []
        for (property, value) in record {
            if property == "id" || property == "type" || property == "lid" || MemberName.isAtMember(property) {
                continue
            }
            let name = codec.keys.wireName(of: property)
            let isKnown = notes[property] != nil || (depth == 0 && relationships.contains(property))
            if isKnown || value.isLinkage && !lookalikes.contains(.string(property)) {
                let pointer = JSONPointer.data.appending("relationships").appending(name)
                resource.relationships[name] = JSONAPIRelationship(try linkage(value, at: pointer))
            } else {
                resource.attributes[name] = value
            }
        }
        for (property, note) in notes {
            let name = codec.keys.wireName(of: property)
            var relationship = resource.relationships[name] ?? JSONAPIRelationship()
            relationship.links = JSONAPILinks(reading: note["links"])
            relationship.meta = note["meta"]?.object
            resource.relationships[name] = relationship
        }
        return resource
    }

    private func id(_ json: JSONValue?) throws(JSONAPIError) -> String? {
        guard let json, !json.isNull else { return nil }
        guard let id = json.identifierText else {
            throw JSONAPIError(.data.appending("id"), "An id must be a string or an integer")
        }
        return id
    }

    private mutating func linkage(_ value: JSONValue, at pointer: JSONPointer) throws(JSONAPIError) -> JSONAPILinkage {
        switch value {
        case .null: return .null
        case .array(let elements):
            var identifiers: [JSONAPIIdentifier] = []
            for (index, element) in elements.enumerated() {
                identifiers.append(try identifier(element, at: pointer.appending(index)))
            }
            return .many(identifiers)
        default: return .one(try identifier(value, at: pointer))
        }
    }

    private mutating func identifier(_ value: JSONValue, at pointer: JSONPointer) throws(JSONAPIError)
        -> JSONAPIIdentifier
    {
        guard let record = value.object, let identifier = JSONAPIIdentifier(reading: value) else {
            throw JSONAPIError(pointer, "The target of a relationship must have a 'type', and an 'id' or a 'lid'")
        }
        // A value with more members than an identifier is a full resource.
        let isResource = record.contains { !["id", "type", "lid", "meta"].contains($0.key) }
        if !isResource, let meta = record["meta"], meta.object == nil {
            throw JSONAPIError(pointer.appending("meta"), "'meta' must be an object")
        }
        if isResource, depth < codec.maximumNesting {
            depth += 1
            defer { depth -= 1 }
            included.append(try resource(record, type: nil))
        }
        return identifier
    }
}

extension JSONValue {
    /// Whether the value can only be the contents of a relationship.
    fileprivate var isLinkage: Bool {
        switch self {
        case .object: JSONAPIIdentifier(reading: self) != nil
        case .array(let elements): !elements.isEmpty && elements.allSatisfy { JSONAPIIdentifier(reading: $0) != nil }
        default: false
        }
    }
}
