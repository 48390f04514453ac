/// A service that keeps its records in memory, like FeathersJS' memory adapter.
///
/// ```swift
/// let messages = MemoryService(
///     startID: 1, multi: .all, pagination: Pagination(default: 10, max: 50))
/// ```
///
/// Errors have FeathersJS' messages. An id matches its record both as a number and as a string. Reading a record takes
/// constant time.
///
/// ``Params/pagination`` and ``Params/multi`` override the options for one call, like FeathersJS' `params.paginate` and
/// `params.adapter.multi`. ``QueryMatcher`` describes how queries match.
public actor MemoryService: ServiceProtocol {
    let memoryOptions: Options
    private var recordStore = RecordStore()
    private var nextID: Int64

    /// Creates a service with FeathersJS' options and defaults.
    ///
    /// - Parameters:
    ///   - id: The name of the property that holds the id.
    ///   - startID: The first id that the service assigns. Later ids count up and skip ids in use.
    ///   - multi: The methods that may affect several records at once.
    ///   - pagination: The page sizes (FeathersJS' `paginate`); nil to return plain arrays.
    ///   - operators: Additional operators that queries may use.
    ///   - records: The initial records (FeathersJS' `store`). Records without an id are assigned one. If two records
    ///     have the same id, the later one wins.
    ///   - makeID: A function that generates the id of a new record from the record without its id. It replaces the
    ///     counter.
    public init(
        id: String = "id", startID: Int64 = 0, multi: MultipleRecords = .none, pagination: Pagination? = nil,
        operators: [QueryOperator] = [], records: [JSONObject] = [],
        makeID: (@Sendable (JSONObject) -> ServiceID)? = nil
    ) {
        memoryOptions = Options(id: id, multi: multi, pagination: pagination, operators: operators, makeID: makeID)
        var store = RecordStore()
        var nextID = startID
        // Records with an id come first, so that their ids are not assigned to others.
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
        self.recordStore = store
        self.nextID = nextID
    }

    /// The number of records.
    public var count: Int { recordStore.count }

    // The methods are `async` although they never suspend: in asynchronous code, the compiler would prefer the
    // protocol's default implementation to a synchronous method.

    /// Returns the record with the given id.
    ///
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not exist or does not match the query.
    public func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
        if params.query.isEmpty { return try record(id).record }
        return try MemoryQuery(params.query, memoryOptions)(try record(id).record, id)
    }

    /// Replaces a record. The record keeps its id and the id's type.
    ///
    /// - Throws: ``FeathersError/Code/badRequest`` for a nil id or an array, ``FeathersError/Code/notFound`` if the
    ///   existing record does not match the query. In both cases, nothing changes.
    public func update(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        let query = try MemoryQuery(params.query, memoryOptions)
        guard let id, data.array == nil else {
            throw FeathersError(.badRequest, "You can not replace multiple instances. Did you mean 'patch'?")
        }
        var object = try Self.object(data)
        let (key, old) = try record(id)
        _ = try query(old, id)
        object[memoryOptions.id] = old[memoryOptions.id] ?? id.json
        recordStore.store(.object(object), for: key)
        return query.select(.object(object))
    }

    /// Merges `data` into a record or, with a nil id, into all records that match the query. Ids do not change.
    ///
    /// Changed records are returned even if they no longer match. `$limit`, `$skip` and `$sort` are ignored.
    ///
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` for a nil id if the service's `multi` does not allow it.
    public func patch(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        let query = try MemoryQuery(params.query, memoryOptions)
        var keys: [RecordKey] = []
        if let id {
            let (key, record) = try record(id)
            _ = try query(record, id)
            keys = [key]
        } else {
            try memoryOptions.applying(params).checkMultiple(.patch)
            keys = matches(query).map(\.key)
        }
        var changes = try Self.object(data)
        changes.removeValue(forKey: memoryOptions.id)
        for key in keys { recordStore.change(key) { $0.applyChanges(changes) } }
        let records = keys.compactMap { recordStore[$0].map(query.select) }
        return id == nil ? .array(records) : records[0]
    }

    /// Removes a record or, with a nil id, all records that match the query, and returns what it removed.
    ///
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` for a nil id if the service's `multi` does not allow it.
    public func remove(_ id: ServiceID?, _ params: Params) async throws -> JSONValue {
        let query = try MemoryQuery(params.query, memoryOptions)
        if let id {
            let (key, record) = try record(id)
            let removed = try query(record, id)
            recordStore.remove(key)
            return removed
        }
        try memoryOptions.applying(params).checkMultiple(.remove)
        let removed = matches(query)
        for (key, _) in removed { recordStore.remove(key) }
        return .array(removed.map { query.select($0.record) })
    }

    static func object(_ data: JSONValue) throws(FeathersError) -> JSONObject {
        guard case .object(let object) = data else { throw FeathersError(.badRequest, "A record must be an object") }
        return object
    }

    private func record(_ id: ServiceID) throws(FeathersError) -> (key: RecordKey, record: JSONValue) {
        let key = RecordKey(id)
        guard let record = recordStore[key] else { throw FeathersError.noRecord(id) }
        return (key, record)
    }

    private func matches(_ query: MemoryQuery) -> [(key: RecordKey, record: JSONValue)] {
        var found: [(key: RecordKey, record: JSONValue)] = []
        recordStore.visit { key, record in
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
    fileprivate mutating func applyChanges(_ changes: JSONObject) {
        guard case .object(var object) = self else { return }
        self = .null
        for (key, value) in changes { object[key] = value }
        self = .object(object)
    }
}

extension MemoryService {
    /// Returns the records that match the query: a page `{total, limit, skip, data}` if the service paginates,
    /// otherwise an array.
    ///
    /// Without `$sort`, records are in FeathersJS' order: integer ids in ascending order, then the others in insertion
    /// order. A negative `$skip` is ignored.
    public func find(_ params: Params) async throws -> JSONValue {
        let query = try MemoryQuery(params.query, memoryOptions)
        let sorter = try QuerySorter(params.query)
        let skip = params.query.json["$skip"].flatMap { ParsedInteger($0).value }.flatMap { $0 > 0 ? $0 : nil } ?? 0
        let requestedLimit = params.query.json["$limit"]

        if let limit = memoryOptions.applying(params).pagination?.limit(for: requestedLimit) {
            let (total, records) = list(query, sorter, skip: skip, limit: limit, countingAll: true)
            return [
                "total": .integer(Int64(total)),
                "limit": .integer(Int64(limit)),
                "skip": .integer(Int64(skip)),
                "data": .array(records),
            ]
        }
        let limit = requestedLimit.flatMap { ParsedInteger($0).value }.flatMap { $0 >= 0 ? $0 : nil }
        return .array(list(query, sorter, skip: skip, limit: limit ?? .max, countingAll: false).records)
    }

    /// - Parameter countingAll: Whether the total is needed, so that iteration must not stop at the limit.
    private func list(
        _ query: MemoryQuery, _ sorter: QuerySorter?, skip: Int, limit: Int, countingAll: Bool
    ) -> (total: Int, records: [JSONValue]) {
        if limit == 0, !countingAll { return (0, []) }
        var total = 0
        var found: [JSONValue] = []
        let mayStop = sorter == nil && !countingAll
        recordStore.visit { _, record in
            guard query.matcher.matches(record) else { return true }
            total += 1
            if sorter != nil {
                found.append(record)
            } else if total > skip, found.count < limit {
                found.append(record)
            }
            return !mayStop || found.count < limit
        }
        if let sorter { found = Array(sorter.sorted(found).dropFirst(skip).prefix(limit)) }
        return (total, found.map(query.select))
    }

    /// Creates one record from an object, or several from an array of objects.
    ///
    /// The service keeps an id in the data and, like FeathersJS, replaces an existing record with that id. Null, `0`,
    /// `false` and an empty string do not count as ids. `$select` applies to the result.
    ///
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` for an array if the service's `multi` does not allow it,
    ///   ``FeathersError/Code/badRequest`` for data that isn't an object or whose id is neither a string nor a number,
    ///   ``FeathersError/Code/conflict`` if the service's `makeID` returns an id in use. Either all of several records
    ///   are created or none.
    public func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
        let selection = try QuerySelection(params.query, keeping: memoryOptions.id)
        var assignment = IDAssignment(nextID: nextID)
        guard case .array(let elements) = data else {
            let (key, record) = try assignment.assignID(to: data, memoryOptions, recordStore)
            nextID = assignment.nextID
            recordStore.store(record, for: key)
            return selection?(record) ?? record
        }
        try memoryOptions.applying(params).checkMultiple(.create)
        var records: [(key: RecordKey, record: JSONValue)] = []
        records.reserveCapacity(elements.count)
        for element in elements {
            let new = try assignment.assignID(to: element, memoryOptions, recordStore)
            assignment.taken.insert(new.key)
            records.append(new)
        }
        // Nothing can fail from here on.
        nextID = assignment.nextID
        for (key, record) in records { recordStore.store(record, for: key) }
        return .array(records.map { selection?($0.record) ?? $0.record })
    }
}

private struct IDAssignment {
    var nextID: Int64
    /// The ids of records that are not in the store yet.
    var taken: Set<RecordKey> = []

    /// Returns the record with its id.
    mutating func assignID(
        to data: JSONValue, _ options: MemoryService.Options, _ store: borrowing RecordStore
    ) throws(FeathersError) -> (key: RecordKey, record: JSONValue) {
        var object = try MemoryService.object(data)
        // Not `??`, because its right side would lose the error's type.
        let id: ServiceID
        if let given = try given(object, options) { id = given } else { id = try generated(object, options, store) }
        object[options.id] = id.json
        return (RecordKey(id), .object(object))
    }

    private func given(_ record: JSONObject, _ options: MemoryService.Options) throws(FeathersError) -> ServiceID? {
        switch record[options.id] {
        case nil, .null, .bool(false), .integer(0), .number(0), .string(""): return nil
        case .some(let value):
            guard let id = ServiceID(value) else {
                throw FeathersError(.badRequest, "An id must be a string or a number")
            }
            return id
        }
    }

    private mutating func generated(
        _ record: JSONObject, _ options: MemoryService.Options, _ store: borrowing RecordStore
    ) throws(FeathersError) -> ServiceID {
        if let makeID = options.makeID {
            var data = record
            data.removeValue(forKey: options.id)
            let id = makeID(data)
            guard isFree(id, store) else { throw FeathersError(.conflict, "The id '\(id)' is already in use") }
            return id
        }
        while !isFree(.integer(nextID), store) { nextID += 1 }
        defer { nextID += 1 }
        return .integer(nextID)
    }

    private func isFree(_ id: ServiceID, _ store: borrowing RecordStore) -> Bool {
        let key = RecordKey(id)
        return store[key] == nil && !taken.contains(key)
    }
}

/// The conditions and the selection of a call's query.
struct MemoryQuery {
    let matcher: QueryMatcher
    private let selection: QuerySelection?

    init(_ query: Query<JSONValue>, _ options: MemoryService.Options) throws(FeathersError) {
        matcher = try QueryMatcher(query, operators: options.operators)
        selection = try QuerySelection(query, keeping: options.id)
    }

    func select(_ record: JSONValue) -> JSONValue { selection?(record) ?? record }

    /// Returns the selected properties of a record.
    /// - Throws: ``FeathersError/Code/notFound`` if the record does not match.
    func callAsFunction(_ record: JSONValue, _ id: ServiceID) throws(FeathersError) -> JSONValue {
        guard matcher.matches(record) else { throw FeathersError.noRecord(id) }
        return select(record)
    }
}
