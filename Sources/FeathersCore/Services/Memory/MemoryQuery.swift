/// A call's query as a memory service uses it for one record: conditions and selection.
struct MemoryQuery {
    let matcher: QueryMatcher
    private let selection: QuerySelection?

    init(_ query: Query, _ options: MemoryService.Options) throws(FeathersError) {
        matcher = try QueryMatcher(query, operators: options.operators)
        selection = try QuerySelection(query, keeping: options.id)
    }

    /// The selected properties of a record.
    func select(_ record: JSONValue) -> JSONValue {
        selection?(record) ?? record
    }

    /// The selected properties of the record with the given id, which is not found where it does not match.
    func callAsFunction(_ record: JSONValue, _ id: ServiceID) throws(FeathersError) -> JSONValue {
        guard matcher.matches(record) else { throw FeathersError.noRecord(id) }
        return select(record)
    }
}
