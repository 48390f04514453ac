/// Cuts records down to the properties a query's `$select` names.
public struct QuerySelection: Sendable {
    private let properties: [String]

    /// The selection of a query; nil where it selects nothing in particular.
    ///
    /// - Parameters:
    ///   - query: the query with the `$select`.
    ///   - id: the id's name; it is kept whether named or not.
    /// - Throws: ``FeathersError/Code/badRequest`` (`Invalid filter value $select`) where `$select` is no array.
    ///   FeathersJS answers a plain string with empty records.
    public init?(_ query: Query, keeping id: String) throws(FeathersError) {
        guard let select = query.json["$select"], !select.isNull else { return nil }
        guard case .array(let names) = select else {
            throw FeathersError(.badRequest, "Invalid filter value $select", data: ["$select": select])
        }
        properties = names.map { $0.string ?? $0.description } + [id]
    }

    /// The record with the selected properties, in the order they were selected.
    public func callAsFunction(_ record: JSONValue) -> JSONValue {
        guard case .object(let object) = record else { return record }
        var selected = JSONObject(minimumCapacity: properties.count)
        for property in properties {
            if let value = object[property] { selected[property] = value }
        }
        return .object(selected)
    }
}
