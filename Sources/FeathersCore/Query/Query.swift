/// A Feathers query: conditions, sorting, pages and selection, in the order they were written.
public struct Query: Sendable, Hashable {
    /// The query as JSON, exactly what is sent.
    public var json: JSONObject

    /// A query from its JSON: the escape hatch for whatever the builder has no word for.
    public init(_ json: JSONObject = JSONObject()) {
        self.json = json
    }

    public var isEmpty: Bool { json.isEmpty }
}
