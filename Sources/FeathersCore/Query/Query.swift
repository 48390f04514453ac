/// A Feathers query: conditions, sorting, pages and selection, in the order they were written.
///
/// ```swift
/// messages.find(.where("age", .greaterThan(18)).sorted(by: "name").limit(10).selecting("id", "text"))
/// ```
///
/// Every building step returns a new query. The order is kept, since it is the order that is sent.
public struct Query: Sendable {
    /// The query as JSON, exactly what is sent.
    public var json: JSONObject

    /// A query from its JSON: the escape hatch for whatever the builder has no word for.
    public init(_ json: JSONObject = JSONObject()) {
        self.json = json
    }

    /// Whether the query asks for nothing in particular: every record, in the service's own order.
    public var isEmpty: Bool { json.isEmpty }
}

extension Query: ExpressibleByDictionaryLiteral {
    /// A query as Feathers writes it, `["age": ["$gt": 18], "$limit": 10]`; of a repeated key the last value wins.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        json = JSONObject(minimumCapacity: elements.count)
        for (key, value) in elements { json[key] = value }
    }
}

extension Query: Hashable {
    /// Equal when they ask for the same: the order of conditions does not count, the order of sorting does.
    public static func == (left: Query, right: Query) -> Bool {
        guard left.json == right.json else { return false }
        guard let leftSort = left.json["$sort"]?.object, let rightSort = right.json["$sort"]?.object else { return true }
        return leftSort.elementsEqual(rightSort) { $0.key == $1.key }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(json)
    }
}
