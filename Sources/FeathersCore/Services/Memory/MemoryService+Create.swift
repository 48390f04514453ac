extension MemoryService {
    /// Creates one record from an object, several from an array of objects.
    ///
    /// An id among the data is kept and replaces the record that had it, as in FeathersJS; null, `0`, `false` and an
    /// empty string count as no id there. `$select` applies to the answer.
    ///
    /// - Throws: ``FeathersError/Code/methodNotAllowed`` for an array where the service's `multi` lacks `create`,
    ///   ``FeathersError/Code/badRequest`` for what is no object or whose id is neither a string nor a number,
    ///   ``FeathersError/Code/conflict`` where the service's `makeID` gave an id in use. Of several records either all
    ///   are created or none.
    public func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
        let selection = try QuerySelection(params.query, keeping: options.id)
        guard case .array(let elements) = data else {
            let record = try add([data])[0]
            return selection?(record) ?? record
        }
        guard options.multi.contains(.create) else { throw Self.multipleRecordsRefused("create") }
        let records = try add(elements)
        return .array(selection.map { selection in records.map { selection($0) } } ?? records)
    }

    private func add(_ elements: [JSONValue]) throws(FeathersError) -> [JSONValue] {
        var assignment = IDAssignment(nextID: nextID)
        var records: [(key: RecordKey, record: JSONValue)] = []
        records.reserveCapacity(elements.count)
        for element in elements {
            var object = try Self.object(element)
            let id = try assignment.id(for: object, options, store)
            object[options.id] = id.json
            records.append((RecordKey(id), .object(object)))
        }
        // Nothing can fail from here on.
        nextID = assignment.nextID
        for (key, record) in records { store.store(record, for: key) }
        return records.map(\.record)
    }
}

/// The ids of records that are about to be created together.
private struct IDAssignment {
    var nextID: Int64
    private var taken: Set<RecordKey> = []

    init(nextID: Int64) {
        self.nextID = nextID
    }

    mutating func id(for record: JSONObject, _ options: MemoryService.Options, _ store: RecordStore) throws(FeathersError) -> ServiceID {
        // Not with `??`, whose right side would lose the type of its error.
        let id: ServiceID
        if let given = try given(record, options) { id = given } else { id = try generated(record, options, store) }
        taken.insert(RecordKey(id))
        return id
    }

    private func given(_ record: JSONObject, _ options: MemoryService.Options) throws(FeathersError) -> ServiceID? {
        switch record[options.id] {
        case nil, .null, .bool(false), .integer(0), .number(0), .string(""): return nil
        case .some(let value):
            guard let id = ServiceID(value) else { throw FeathersError(.badRequest, "An id must be a string or a number") }
            return id
        }
    }

    private mutating func generated(
        _ record: JSONObject, _ options: MemoryService.Options, _ store: RecordStore
    ) throws(FeathersError) -> ServiceID {
        if let makeID = options.makeID {
            var data = record
            data.removeValue(forKey: options.id)
            let id = makeID(data)
            guard isFree(id, store) else { throw FeathersError(.conflict, "The id '\(id)' is in use") }
            return id
        }
        while !isFree(.integer(nextID), store) { nextID += 1 }
        defer { nextID += 1 }
        return .integer(nextID)
    }

    private func isFree(_ id: ServiceID, _ store: RecordStore) -> Bool {
        let key = RecordKey(id)
        return store[key] == nil && !taken.contains(key)
    }
}
