/// A service that keeps its records in memory: FeathersJS' memory adapter, in the process.
///
/// ```swift
/// let messages = MemoryService(startID: 1, multi: .all, pagination: Pagination(default: 10, max: 50))
/// ```
///
/// Errors are worded as FeathersJS words them. An id finds its record as a number and as a string alike. Reading one
/// record costs the same however many there are.
public actor MemoryService: ServiceProtocol {
    let options: Options
    var store = RecordStore()
    var nextID: Int64

    /// A service with FeathersJS' options and defaults.
    ///
    /// - Parameters:
    ///   - id: The name of the property that holds the id.
    ///   - startID: The first id the service gives. Ids count up from there and leave out those in use.
    ///   - multi: Which methods may work on several records at once.
    ///   - pagination: How lists are paged (FeathersJS' `paginate`); nil for plain arrays.
    ///   - operators: What queries may use beyond Feathers' operators.
    ///   - records: What the service starts with (FeathersJS' `store`), under the ids they have; those without one get
    ///     one. Of two with the same id the later one wins.
    ///   - makeID: Gives the ids of new records in place of the counter; gets the record without its id.
    public init(
        id: String = "id",
        startID: Int64 = 0,
        multi: MultipleRecords = .none,
        pagination: Pagination? = nil,
        operators: [QueryOperator] = [],
        records: [JSONObject] = [],
        makeID: (@Sendable (JSONObject) -> ServiceID)? = nil
    ) {
        options = Options(id: id, multi: multi, pagination: pagination, operators: operators, makeID: makeID)
        var store = RecordStore()
        var nextID = startID
        // Those with an id first, so that no given id takes it.
        for record in records {
            guard let id = record[id].flatMap({ ServiceID($0) }) else { continue }
            store.store(.object(record), for: RecordKey(id))
        }
        for var record in records where record[id].flatMap({ ServiceID($0) }) == nil {
            while store[RecordKey(.integer(nextID))] != nil { nextID += 1 }
            record[id] = .integer(nextID)
            store.store(.object(record), for: RecordKey(.integer(nextID)))
            nextID += 1
        }
        self.store = store
        self.nextID = nextID
    }

    /// How many records the service keeps.
    public var count: Int { store.count }

    // The methods wait for nothing, yet are `async`: a synchronous one would lose against the protocol's default, which
    // the compiler prefers in asynchronous code.

    /// The record with the given id.
    ///
    /// - Throws: ``FeathersError/Code/notFound`` also where the record does not match the query.
    public func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
        if params.query.isEmpty { return try record(id).record }
        return try MemoryQuery(params.query, options)(try record(id).record, id)
    }

    /// Replaces a record; it keeps its id, and its id's type.
    ///
    /// - Throws: ``FeathersError/Code/badRequest`` for the null id or an array, ``FeathersError/Code/notFound`` where the
    ///   record, as it was, does not match the query. Nothing has changed then.
    public func update(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        let query = try MemoryQuery(params.query, options)
        guard let id, data.array == nil else {
            throw FeathersError(.badRequest, "You can not replace multiple instances. Did you mean 'patch'?")
        }
        var object = try Self.object(data)
        let (key, old) = try record(id)
        _ = try query(old, id)
        object[options.id] = old[options.id] ?? id.json
        store.store(.object(object), for: key)
        return query.select(.object(object))
    }

    /// Merges `data` into a record, or with a nil id into every record that matches the query. Ids do not change.
    ///
    /// Several records are answered even where they no longer match; `$limit`, `$skip` and `$sort` are ignored.
    ///
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` for the null id where the service's `multi` lacks it.
    public func patch(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        let query = try MemoryQuery(params.query, options)
        var keys: [RecordKey] = []
        if let id {
            let (key, record) = try record(id)
            _ = try query(record, id)
            keys = [key]
        } else {
            guard options.multi.contains(.patch) else { throw Self.multipleRecordsRefused("patch") }
            keys = matches(query).map(\.key)
        }
        var changes = try Self.object(data)
        changes.removeValue(forKey: options.id)
        for key in keys { store.change(key) { $0.merge(changes) } }
        let records = keys.compactMap { store[$0].map(query.select) }
        return id == nil ? .array(records) : records[0]
    }

    /// Removes a record, or with a nil id every record that matches the query, and answers with what it removed.
    ///
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` for the null id where the service's `multi` lacks it.
    public func remove(_ id: ServiceID?, _ params: Params) async throws -> JSONValue {
        let query = try MemoryQuery(params.query, options)
        if let id {
            let (key, record) = try record(id)
            let removed = try query(record, id)
            store.remove(key)
            return removed
        }
        guard options.multi.contains(.remove) else { throw Self.multipleRecordsRefused("remove") }
        let removed = matches(query)
        for (key, _) in removed { store.remove(key) }
        return .array(removed.map { query.select($0.record) })
    }
}

extension MemoryService {
    static func multipleRecordsRefused(_ method: String) -> FeathersError {
        FeathersError(.methodNotAllowed, "Can not \(method) multiple entries")
    }

    static func object(_ data: JSONValue) throws(FeathersError) -> JSONObject {
        guard case .object(let object) = data else { throw FeathersError(.badRequest, "A record must be an object") }
        return object
    }

    private func record(_ id: ServiceID) throws(FeathersError) -> (key: RecordKey, record: JSONValue) {
        let key = RecordKey(id)
        guard let record = store[key] else { throw FeathersError.noRecord(id) }
        return (key, record)
    }

    /// Every record that matches, in the store's order.
    private func matches(_ query: MemoryQuery) -> [(key: RecordKey, record: JSONValue)] {
        var found: [(key: RecordKey, record: JSONValue)] = []
        store.visit { key, record in
            if query.matcher.matches(record) { found.append((key, record)) }
            return true
        }
        return found
    }
}

extension FeathersError {
    static func noRecord(_ id: ServiceID) -> FeathersError {
        FeathersError(.notFound, "No record found for id '\(id)'")
    }
}

extension JSONValue {
    fileprivate mutating func merge(_ changes: JSONObject) {
        guard case .object(var object) = self else { return }
        self = .null
        for (key, value) in changes { object[key] = value }
        self = .object(object)
    }
}
