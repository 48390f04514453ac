import FeathersCore

/// Makes plain records of a document's resources, those that relationships lead to inside of them.
///
/// A record holds `id`, `type`, and each attribute and relationship under its property's name. A relationship is null, a record, or an array of records;
/// of a resource that did not come along there is the identifier. What has no place among the fields stands in members that no field can
/// be named like: `@links`, `@meta` and `@relationships`, which names the relationships and holds their own links and meta.
struct RecordMaker {
    private let pool: ResourcePool
    private var path: [Int] = []
    /// How many more resources are put inside others; then identifiers do. Records have no model that ends them.
    private var remaining: Int

    init(_ document: JSONAPIDocument, codec: JSONAPICodec) {
        pool = ResourcePool(document, codec: codec)
        remaining = 1000 + 16 * pool.resources.count
    }

    /// The record of the resource at a place of the document.
    /// - Parameter include: which relationships get records in them; nil for all whose targets came along.
    mutating func record(at position: Int, including include: IncludePaths?) -> JSONValue {
        let resource = pool.resources[position]
        let keys = pool.codec.keys
        var record = JSONObject(minimumCapacity: resource.attributes.count + 4)
        if let id = resource.id { record["id"] = .string(id) }
        record["type"] = .string(resource.type)
        if let lid = resource.lid { record["lid"] = .string(lid) }
        for (name, value) in resource.attributes where !MemberName.isAtMember(name) { record[keys.propertyName(of: name)] = value }
        var notes: JSONObject = [:]
        path.append(position)
        for (name, json) in resource.relationships.json {
            guard !MemberName.isAtMember(name), case .object(let relationship) = json else { continue }
            let property = keys.propertyName(of: name)
            if let data = relationship["data"] { record[property] = value(of: data, including: include.map { $0.children[name] }) }
            var note: JSONObject = [:]
            if let links = relationship["links"] { note["links"] = links }
            if let meta = relationship["meta"] { note["meta"] = meta }
            notes[property] = .object(note)
        }
        path.removeLast()
        if !notes.isEmpty { record["@relationships"] = .object(notes) }
        if !resource.links.isEmpty { record["@links"] = .object(resource.links.json) }
        if let meta = resource.meta { record["@meta"] = .object(meta) }
        return .object(record)
    }

    /// - Parameter include: nil for everything, nil inside for nothing.
    private mutating func value(of data: JSONValue, including include: IncludePaths??) -> JSONValue {
        switch data {
        case .array(let identifiers):
            var records: [JSONValue] = []
            records.reserveCapacity(identifiers.count)
            for identifier in identifiers { records.append(target(identifier, including: include)) }
            return .array(records)
        case .object: return target(data, including: include)
        default: return .null
        }
    }

    private mutating func target(_ identifier: JSONValue, including include: IncludePaths??) -> JSONValue {
        if case .some(.none) = include { return identifier }
        guard remaining > 0, path.count < pool.codec.maximumNesting, let position = ResourceKey(reading: identifier).flatMap(pool.position),
            !path.contains(position)
        else { return identifier }
        remaining -= 1
        return record(at: position, including: include ?? nil)
    }
}
