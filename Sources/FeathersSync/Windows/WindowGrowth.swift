import FeathersCore

/// Lists that grow: a fetch brings the records after the last known one. Those before it stay as events report them.
extension Window {
    /// How the records after the last known one are requested.
    enum Following: Sendable {
        /// By the values of the first sorted property.
        case byValue
        /// By the number of records before them, because conditions do not find all.
        case byCount
        /// With the whole result, because the last known record is not where it was.
        case withAll
    }

    /// Whether records follow those that were shown last. Before the first result, none do.
    var hasMore: Bool { isKnown && (!isComplete || shown.rows.count > limit) }

    /// The maximum number of records that a list grows by at once, if the server reports no total.
    static let maximumStep = 100_000

    /// Shows more records: at most those that the result has.
    /// - Parameter count: How many; nil for as many as at first.
    /// - Returns: How many.
    mutating func grow(by count: Int?) -> Int {
        // The sum of all growth stays a number.
        guard firstLimit < .max / 2, growth < .max / 4, firstLimit > 0 else { return 0 }
        // The total may be wrong, so the list can always grow by as many as at first.
        let rest = total.map { max($0.count.subtractingReportingOverflow(limit).partialValue, firstLimit) }
        let step = min(count ?? firstLimit, rest ?? Self.maximumStep, Self.maximumStep)
        growth += step
        return step
    }

    /// Whether a list that has grown has all records to show.
    var isFilled: Bool { isComplete || limit == .max || known.count >= limit + shown.hiddenCount }

    /// Begins a fetch of the records that are missing from a list that has grown.
    ///
    /// Its page begins with the last known record, which proves that the others follow it. A value may be more precise
    /// on the server than in JSON, so the condition has the last value that differs, and the known records behind that
    /// are skipped.
    /// - Parameter time: A greater one than that of any earlier fetch.
    /// - Returns: Nil if none are missing.
    /// - Throws: ``FeathersError/Code/badRequest`` if only a fetch of the whole result can bring them.
    mutating func beginAddition(at time: Int) throws(FeathersError) -> (fetch: Fetch, request: Query<JSONValue>)? {
        guard !isFilled, let last = known.last else { return nil }
        if following == .withAll { throw Self.cannotGrow }
        // From a server whose pages have one record, there is no proof.
        let overlap = firstLimit > 1 ? 1 : 0
        let boundary = following == .byValue ? boundary : nil
        let start = known.count - overlap - (boundary?.count ?? -judge.skip)
        let asked = limit + shown.hiddenCount - known.count + judge.headroom + overlap
        let request = boundary.map { judge.request.joined(with: $0.condition) } ?? judge.request
        let seam = Fetch.Seam(
            key: overlap > 0 ? last.key : nil, start: start, isByValue: boundary != nil,
            total: isTotalEstimated ? nil : fetchedTotal.map { $0 - (boundary.map { $0.count + judge.skip } ?? 0) })
        let begun = Fetch(scope: .rest, asked: asked, seam: seam, time: time)
        addition = begun
        return (begun, request.starting(at: start).limit(asked))
    }

    /// The condition for the records behind the last one with another value of the first sorted property than the last
    /// record, and the number of known records that do not meet it; nil if there is none.
    private var boundary: (count: Int, condition: Query<JSONValue>)? {
        let sort = judge.request.json["$sort"]?.object?.first { $0.value.direction != 0 }
        guard let sort, let last = known.last?.sortValue, last.hasOrder,
            let index = known.lastIndex(where: { $0.sortValue != last }), let value = known[index].sortValue,
            value.hasOrder
        else { return nil }
        return (index + 1, Query([sort.key: [sort.value.direction < 0 ? "$lt" : "$gt": value]]))
    }

    static let cannotGrow = FeathersError(
        .badRequest,
        "The records after the last one cannot be requested: the service sends other records there each time",
        execution: .neverSent)

    /// Gives up an addition. Its response is ignored.
    mutating func endAddition() { addition = nil }

    /// Adds the rows of a page that follows the known part. If it does not, or has nothing new although the end is not
    /// reached, the next addition is requested in another way.
    mutating func append(_ rows: [ResultRow], _ page: Page<JSONValue>, _ fetch: Fetch) {
        guard let seam = fetch.seam, let asked = fetch.asked else { return }
        let isExpected = page.total == nil || seam.total == nil || page.total == seam.total
        let first = seam.key.map { key in page.data.firstIndex { judge.key(of: $0) == key } } ?? -1
        guard let first, isExpected || !seam.isByValue else {
            return following = seam.isByValue ? .byCount : .withAll
        }
        let earlier = Set(page.data.prefix(max(first, 0)).compactMap(judge.key))
        // Something has changed before the page, of which no event tells.
        if !isExpected || rows.contains(where: { earlier.contains($0.key) && table[$0.key] == nil }) { want(.soon) }
        let (start, count) = (known.last, known.count)
        var place = start?.place ?? 0
        var added = start.map { [$0] } ?? []
        for row in rows where table[row.key] == nil && !earlier.contains(row.key) {
            place = max(row.place, place + 1)
            added.append(row.moved(to: place))
        }
        if case .sorted(let sorter) = order, !ResultOrder(sorter, of: added).isSorted { order = .foreign(sorter) }
        for row in added.dropFirst(start == nil ? 0 : 1) {
            known.insert(row, at: known.count)
            table[row.key] = row
        }
        let isEnd = page.total.map { seam.start + page.count >= $0 } ?? (page.limit == nil && page.count < asked)
        if seam.isByValue {
            // Conditions do not find records without a value, or of another type.
            isComplete = isEnd && !isTotalEstimated && fetchedTotal == judge.skip + known.count
            if !isComplete, isEnd || known.count == count { following = .byCount }
        } else {
            isComplete = isEnd || page.count < min(asked, page.limit ?? .max)
            if !isComplete, known.count == count { following = .withAll }
        }
        (self.asked, brought) = (max(self.asked, count + asked), known.count)
    }

    /// Returns the query for the records that follow the first ones of a list that has grown, because a server with
    /// smaller pages does not send them at once; nil if none are missing. It begins with the last one of these.
    func request(after page: Page<JSONValue>, in fetch: Fetch) -> Query<JSONValue>? {
        guard growth > 0, fetch.scope == .all, let asked = fetch.asked, page.count < asked, let limit = page.limit,
            page.total.map({ judge.skip + page.count < $0 }) ?? true, !page.isEmpty
        else { return nil }
        let overlap = limit > 1 ? 1 : 0
        return judge.request.starting(at: judge.skip + page.count - overlap).limit(asked - page.count + overlap)
    }
}

extension Query<JSONValue> {
    fileprivate func starting(at index: Int) -> Query {
        var query = self
        query.json["$skip"] = index > 0 ? .integer(Int64(index)) : nil
        return query
    }
}

extension JSONValue {
    /// The direction of an entry of `$sort`.
    fileprivate var direction: Int64 { integer ?? string.flatMap { Int64($0) } ?? 1 }

    /// Whether a condition can compare records with the value.
    fileprivate var hasOrder: Bool {
        switch self {
        case .string, .integer, .number, .decimal: true
        case .null, .bool, .array, .object: false
        }
    }
}

extension Window {
    /// Returns whether a fetch should have found a record in one of these states.
    func isMissed(_ key: String, _ states: [JSONValue?], by fetch: Fetch) -> Bool {
        switch fetch.scope {
        case .all: true
        case .rest: table[key] == nil
        case .keys: states.contains { $0.map { fetch.keys?.contain($0) ?? false } ?? false }
        }
    }
}

/// The windows of relations, whose records have some keys.
extension Window {
    /// Returns a record if the window is certain of it. It is not of the records of keys that are not wanted, for
    /// example from disk, of which events are ignored.
    func currentState(_ key: String) -> Record? {
        guard isShared, isUpToDate, !missing.contains(key), let row = table[key],
            judge.keys?.contain(row.record) ?? true
        else { return nil }
        return row.state
    }

    /// Makes this the window of a relation. Its keys are added one by one, and their records are fetched then.
    mutating func beginKeys(_ property: String) {
        judge.keys = RelatedKeys(property: property)
        (time, wanted, isComplete) = (1, nil, true)
    }

    /// Adds and removes keys.
    /// - Parameter known: What other windows know of the records of new keys, which need no fetch.
    mutating func changeKeys(_ change: RelatedKeys.Change, known: [ResultRow]) {
        guard var keys = judge.keys else { return }
        missing.subtract(change.removed.keys)
        unread.subtract(change.removed.keys)
        missing.formUnion(change.added.keys.filter { keys.values[$0] == nil && !change.unsent.contains($0) })
        keys.apply(change)
        judge.keys = keys
        // A record may have moved to another key since it was shown.
        for row in change.removed.values.joined() where table[row].map({ !keys.contain($0.record) }) ?? false {
            remove(row)
        }
        for row in known {
            put(row)
            missing.remove(row.key)
            unread.remove(row.key)
        }
        if missing.isEmpty { source = .server }
        touch(nil)
    }

    /// Takes keys out of the fetch in flight whose records it did not all read. They are not requested again until the
    /// next fetch of all.
    mutating func leaveOut(_ keys: Set<String>, at time: Int) {
        guard let fetch, fetch.time == time, let asked = fetch.keys, let wanted = judge.keys else { return }
        unread.subtract(asked.values.keys)
        guard !keys.isEmpty else { return }
        self.fetch?.keys = asked.only(Set(asked.values.keys).subtracting(keys))
        missing.subtract(keys)
        unread.formUnion(keys.filter { wanted.values[$0] != nil })
    }

    /// Returns the rows of a page whose keys are still wanted, and the known rows of keys that have been added since it
    /// was requested.
    func divide(_ rows: [ResultRow], _ fetch: Fetch) -> (rows: [ResultRow], later: [ResultRow]) {
        guard let keys = judge.keys else { return (rows, []) }
        let later = known.filter { keys.contain($0.record) && !(fetch.keys?.contain($0.record) ?? false) }
        return (rows.filter { keys.contain($0.record) }, later)
    }

    /// Returns the rows of a result from disk, except those of keys whose records are already known.
    func missed(_ rows: ResultRows) -> ResultRows {
        guard let keys = judge.keys, !known.isEmpty || missing.count < keys.values.count else { return rows }
        return ResultRows(
            rows.filter { row in
                guard table[row.key] == nil, let text = keys.text(in: row.record) else { return false }
                return keys.values[text] == nil || missing.contains(text)
            })
    }

    /// Whether the window has the record of a report from disk, if it has it.
    func isStored(_ state: Record) -> Bool {
        guard let keys = judge.keys else { return source != .server }
        let texts = [state.value, table[state.key]?.record].compactMap { $0.flatMap(keys.text(in:)) }
        return !(keys.property == judge.id ? [state.key] : texts).contains {
            keys.values[$0] != nil && !missing.contains($0)
        }
    }

    /// Adds the rows of further keys, in place of those that are known of them: from disk, or from other windows.
    mutating func add(_ rows: [ResultRow], _ page: Page<JSONValue>, _ fetch: Fetch, _ reported: Set<String>) {
        let found = Set(page.data.compactMap(judge.key))
        for row in Array(known) where !found.contains(row.key) && !reported.contains(row.key) {
            if fetch.keys?.contain(row.record) == true { remove(row.key) }
        }
        missing.subtract(fetch.keys?.values.keys.map(\.self) ?? [])
        // A record may have moved to a key that is no longer wanted.
        for row in rows { if judge.keys?.contain(row.record) ?? true { put(row) } else { remove(row.key) } }
        if missing.isEmpty { source = .server }
    }

    /// Inserts a row, in place of the one that is known of its record.
    private mutating func put(_ row: ResultRow) {
        if let old = table[row.key] {
            if order.keepsIndex(old.record, row.record) { return replace(old, with: row.state) }
            remove(row.key)
        }
        insert(row)
    }
}

extension Store {
    /// Applies the response to a fetch, unless the fetch is no longer the window's.
    /// - Returns: Whether the window has taken a page: this one, or a later one.
    @discardableResult
    mutating func fetched(_ id: Window.ID, _ time: Int, _ fetched: FetchedPage) throws(FeathersError) -> Bool {
        if let answer = fetched.replica {
            answered(id, time, answer)
            return true
        }
        _ = change(id) { $0.leaveOut(fetched.unread, at: time) }
        return try self.fetched(id, time, fetched.page, fetched.effects)
    }

    /// Adds keys to the window of a relation, and removes keys.
    mutating func changeKeys(of id: Window.ID, _ change: RelatedKeys.Change) {
        guard let window = windows[id], let property = window.judge.keys?.property else { return }
        var known: [ResultRow] = []
        if property == self.id {
            for key in change.added.keys {
                guard window.isShared,
                    let state = windows.values.lazy.compactMap({ $0.currentState(key) }).first,
                    let record = state.value, window.judge.matchesWithoutKeys(record)
                else { continue }
                known.append(window.row(state))
            }
        }
        _ = self.change(id) { $0.changeKeys(change, known: known) }
        noteRecords(of: queue)
    }
}
