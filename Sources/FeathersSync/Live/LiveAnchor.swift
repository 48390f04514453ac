// Locks: State of one reader, in the task that reads its snapshots. What is shared is in `LiveStore`, under its lock.

public import FeathersCore

/// A record in the middle of a long list, and the number of records to show around it.
struct LiveAnchor: Sendable {
    let id: ServiceID
    let count: Int
}

extension LiveQuery {
    /// Returns the same query, but its list begins around a record instead of at its start: half of the records before
    /// it, then the record and the other half.
    ///
    /// ```swift
    /// let around = messages.live(.sorted(by: .createdAt)).window(around: found.id, of: 60)
    /// try await around.loadMore(at: .start)
    /// ```
    ///
    /// Use it for lists of any length, for example to show a message that was found by a search. The list grows at both
    /// ends. The record is read first, unless a live query of the service shows it. What counts afterward is its place
    /// in the order at that time, so the record may move or be removed.
    ///
    /// With a ``LocalStore``, the list also opens while the server cannot be reached: with the rows of a list with the
    /// same conditions and order, or the opposite one, that another live query shows or has stored. Without such a list,
    /// it has only the record. If that is not on this device, reading the first snapshot throws at once.
    ///
    /// The query must sort. Its own `$limit` is replaced, and a `$skip` is refused.
    /// - Parameters:
    ///   - id: The id of the record. If it does not exist, reading the first snapshot throws
    ///     ``FeathersError/Code/notFound``.
    ///   - count: The number of records to show at first, at least 2.
    public func window(around id: some ServiceIDConvertible, of count: Int) -> LiveQuery {
        var query = self
        do {
            query.source.anchor = LiveAnchor(id: try id.serviceID, count: Swift.max(count, 2))
        } catch {
            query.source.refusal = FeathersError(.badRequest, "The id of a window cannot be sent", cause: error)
        }
        return query
    }
}

/// Reads a list around a record: the records from it on, and those before it, in the opposite order.
struct LiveAnchorReader<Record: Sendable>: LiveRowsReading {
    let source: LiveSource<Record>
    let anchor: LiveAnchor
    let wake: AsyncStream<Void>.Continuation
    private var readers: (before: LiveReader<Record>, after: LiveReader<Record>)?
    private var latest: (before: LiveSnapshot<Record>?, after: LiveSnapshot<Record>?)
    private var shown = ResultRows()
    /// The record at which the lists begin, until the server has shown that it finds it there.
    var unproven: JSONValue?

    init(_ source: LiveSource<Record>, _ anchor: LiveAnchor, _ wake: AsyncStream<Void>.Continuation) {
        let named = source.service.app.outbox?.withState { source.named($0.names) }
        (self.source, self.anchor, self.wake) = (named ?? source, anchor, wake)
    }

    var window: LiveWindow? { readers?.after.window }
    var shownFor: RequestSender? {
        readers.flatMap { $0.before.shownFor == $0.after.shownFor ? $0.after.shownFor : nil }
    }

    mutating func close() {
        readers?.before.close()
        readers?.after.close()
    }

    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> LiveSnapshot<Record>? {
        var readers: (before: LiveReader<Record>, after: LiveReader<Record>)
        if let open = self.readers { readers = open } else { readers = try await open() }
        defer { self.readers = readers }
        var before = try await readers.before.poll(isolation: actor)
        var after = try await readers.after.poll(isolation: actor)
        if let record = try await displaced(by: readers.after) {
            readers.before.close()
            readers.after.close()
            (readers, latest) = (try await openByValue(of: record), (nil, nil))
            before = try await readers.before.poll(isolation: actor)
            after = try await readers.after.poll(isolation: actor)
        }
        guard before != nil || after != nil else { return nil }
        // Each half may hear of a sign-in first. What the other one has shown to the previous user is not shown then.
        let identity = (after ?? before)?.shownIdentity
        latest = (before ?? latest.before, after ?? latest.after)
        guard let before = latest.before, let after = latest.after else { return nil }
        let first = before.shownIdentity == identity ? before.rows.resultRows : ResultRows()
        let second = after.shownIdentity == identity ? after.rows.resultRows : ResultRows()
        var content = after.liveContent
        if let window { content.firstKeys = window.withState { store, _ in store.records.firstKeys } }
        let rows = Self.joined(first.reversed(), Array(second), content.firstKeys)
        content.hasMoreBefore = before.hasMore
        if before.source != .server { content.source = before.source }
        if let first = before.total, let second = after.total { content.total = first + second }
        content.isTotalEstimated = before.isTotalEstimated || after.isTotalEstimated
        content.undecodableCount += before.undecodableCount
        defer { shown = rows }
        let difference = LiveDifference(
            rows.changes(since: shown), of: rows, since: shown, firstKeys: content.firstKeys)
        return LiveSnapshot(rows, content, difference, identity: identity)
    }

    /// Returns the rows of both lists, each once. A record may have moved from one to the other between the two, and a
    /// creation in flight may be in one while the other has its record.
    private static func joined(_ before: [ResultRow], _ after: [ResultRow], _ firstKeys: FirstKeys) -> ResultRows {
        let rows = before + after
        var indices: [String: Int] = [:]
        for (index, row) in rows.enumerated() {
            let id = firstKeys.shown(row.key)
            if let other = indices[id], rows[other].writeState == .confirmed, row.writeState != .confirmed { continue }
            indices[id] = index
        }
        return ResultRows(rows.enumerated().filter { indices[firstKeys.shown($1.key)] == $0 }.map(\.element))
    }

    /// Opens both lists, as soon as the record's place in the order is known.
    private mutating func open() async throws -> (before: LiveReader<Record>, after: LiveReader<Record>) {
        if let refusal = source.refusal { throw refusal }
        guard let sort = source.query.json["$sort"]?.object, !sort.isEmpty, source.query.json["$skip"] == nil else {
            throw FeathersError(
                .badRequest, "A window around a record needs a query with a '$sort' and without a '$skip'",
                execution: .neverSent)
        }
        let app = source.service.app
        let store = app.liveStores.store(
            of: source.service, source.params.route, id: source.id, await app.resolvedSender())
        let (record, origin) = try await anchorRecord(in: store)
        var (before, after) = halves(around: record)
        before.query = try before.query.after(record).limit(anchor.count / 2)
        after.query = try after.query.after(record, included: true).limit(anchor.count - anchor.count / 2)
        unproven = record
        let halves = await source.surroundings(of: anchor.id, record, from: origin, (before, after), in: store)
        (before.half, after.half) = (halves?.before, halves?.after)
        return (LiveReader(before, wake), LiveReader(after, wake))
    }

    /// Returns the record, and where it comes from; nil if another live query shows it.
    private func anchorRecord(in store: LiveStore) async throws -> (record: JSONValue, origin: ResultSource?) {
        if let known = store.withState({ $0.store.known(anchor.id.key) }) { return (known, nil) }
        let app = source.service.app
        if source.stores, let lists = app.storedLists {
            var params = source.params
            params.query = Query()
            let records = source.service.ownLive(params: params, id: source.id, stores: true).source
            let reading = try await RecordReading(records, [anchor.id], lists)
            let found = try await reading.result(reading.read(.networkFirstStoredIfUnreachable)) { record, _ in record }
            return (found.value, found.source)
        }
        guard let record = try await app.asOwnWork({ try await source.record(anchor.id) }) else {
            throw FeathersError(.notFound, "Service '\(source.service.path)' has no record '\(anchor.id)' to begin at")
        }
        return (record, .server)
    }
}
