// Locks: State of one read. The answer of the server is in a lock of that read, because it may come after the read has
// ended.

import FeathersCore
import FeathersSupport
import Foundation

/// Reads records by their ids, from the server or from this device, for the user who is signed in at its beginning.
struct RecordReading<Model: Codable & Sendable>: Sendable {
    /// What was read.
    struct Answer: Sendable {
        var isFromServer = false
        /// The tag of the record that the server has sent.
        var tag: String?
        /// Why the server has sent no record.
        var failure: FeathersError?
        /// What this device has.
        var stored: RecordsByKey?
    }

    /// Something that ends the wait for the server.
    private enum End: Sendable {
        case answered(Answer)
        case disconnected, silent
        case nothing
    }

    let window: LiveWindow
    private let source: LiveSource<Model>
    private let lists: StoredLists
    /// The ids, and those by which the records are known.
    private let ids: [(wanted: ServiceID, known: ServiceID)]
    /// The ids that the server knows.
    private let sent: [ServiceID]
    /// The records of which other live queries are certain.
    private let current: Set<String>

    init(_ source: LiveSource<Model>, _ ids: [ServiceID], _ lists: StoredLists) async throws {
        (self.source, self.lists) = (source, lists)
        let (app, path, route) = (source.service.app, source.service.path, source.params.route)
        let judge = try QueryJudge(source.params.query, id: source.id, operators: source.operators)
        let sender = await app.resolvedSender()
        var change = RelatedKeys.Change()
        (self.ids, change.unsent) = ids.reduce(into: ([], [])) { names, id in
            let known = app.outbox?.withState { $0.known(id, at: path, route) }
            let own = known.flatMap { $0.identity == nil || $0.identity == sender.identity ? $0.id : nil } ?? id
            let isQueued = app.outbox?.withState { $0.names.isQueued(own, path, route) } ?? false
            names.0.append((id, own))
            if isQueued { names.1.insert(own.key) }
        }
        for (_, id) in self.ids { change.added[id.key] = id.json }
        sent = self.ids.map(\.known).filter { [change] in !change.unsent.contains($0.key) }
        let store = app.liveStores.store(of: source.service, route, id: source.id, sender)
        var opened = Window(judge, hasRoute: !route.isEmpty)
        opened.beginKeys(source.id)
        // Like a list from disk, it includes nothing of what writes did.
        opened.time = 0
        let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)).continuation
        let window = store.open(opened, wake)
        let missing = window.withState { [change] store, _ in
            store.changeKeys(of: window.id, change)
            _ = store.change(window.id) { $0.source = .stored(since: .distantPast) }
            return store.windows[window.id]?.missing ?? []
        }
        (self.window, current) = (window, Set(sent.map(\.key)).subtracting(missing))
    }

    // MARK: Reading

    /// Reads the records.
    /// - Parameter withGet: Whether the server is asked with `get` for the only record.
    func read(_ policy: StoredPolicy, withGet: Bool = false) async throws -> Answer {
        let app = source.service.app
        if policy == .storedOnly || sent.isEmpty || app.cannotConnect { return try await readStored() }
        do {
            return try await withThrowingTaskGroup(of: End.self) { group in
                defer { group.cancelAll() }
                group.addTask { .answered(try await ask(withGet: withGet)) }
                group.addTask { [lists] in
                    try await lists.clock.sleep(for: lists.store.responseDelay)
                    return .silent
                }
                group.addTask {
                    for await _ in app.connectionStatusUpdates() where app.cannotConnect { return .disconnected }
                    return .nothing
                }
                while let end = try await group.next() {
                    switch end {
                    case .answered(let answer): return answer
                    case .disconnected: return try await readStored()
                    case .silent:
                        // A slow server is better than nothing.
                        let answer = try await readStored()
                        if answer.stored?.records.isEmpty == false || !rows().isEmpty { return answer }
                    case .nothing: continue
                    }
                }
                throw CancellationError()
            }
        } catch let error as FeathersError where error.saysUnreachable {
            var answer = try await readStored()
            answer.failure = error
            return answer
        }
    }

    private func readStored() async throws -> Answer {
        Answer(stored: try await source.restoreRecords(into: window, lists, withDates: true))
    }

    /// Reads the records from the server.
    private func ask(withGet: Bool) async throws -> Answer {
        let answer = Locked(Answer(isFromServer: true))
        var read: (@Sendable () async throws -> FetchedPage)?
        if withGet, let id = sent.first { read = { try await get(id, answer) } }
        // A gap ends a fetch, whose response is ignored then.
        while try await !source.fetchAll(window, by: read) {}
        return answer.withLock(\.self)
    }

    private func get(_ id: ServiceID, _ answer: Locked<Answer>) async throws -> FetchedPage {
        let service = source.service
        let request = try service.makeRequest(.get, id: id, query: source.params.query, params: source.fetchParams)
        do {
            let response = try await service.respond(to: request)
            // Without its envelope, the response is no record either.
            let record = (try? response.result.unwrapped(by: service.rootKeys)) ?? .bool(false)
            try request.checkRecord(in: record, [source.id])
            answer.withLock { $0.tag = EntityTags.tag(of: response, to: request) }
            let effects = source.effects(of: response, to: request, isEmpty: false)
            return FetchedPage(page: Page(data: [record]), effects: effects)
        } catch let error as FeathersError where error.code == .notFound {
            answer.withLock { $0.failure = error }
            return FetchedPage(page: Page(data: []), effects: HookEffects())
        }
    }

    // MARK: Results

    /// The rows by the keys under which they are known or were shown first.
    func rows() -> [String: ResultRow] {
        window.withState { store, _ in
            let rows = store.content(of: window.id)?.rows ?? ResultRows()
            return rows.reduce(into: [:]) { all, row in
                all[row.key] = row
                all[store.records.firstKeys.shown(row.key)] = row
            }
        }
    }

    /// Returns the result of a read of one record.
    func result<Value: Sendable>(
        _ answer: Answer, _ value: (Model, ResultRow) throws -> Value
    ) throws -> StoredResult<Value> {
        let (result, rows) = try results(answer)
        guard let record = result.value.first, let row = rows.first else { throw reason(answer) }
        return StoredResult(
            value: try value(record, row), source: result.source, missing: [],
            hasPendingWrites: result.hasPendingWrites)
    }

    /// Returns the records that were found, and their rows.
    func results(_ answer: Answer) throws -> (result: StoredResult<[Model]>, rows: [ResultRow]) {
        let known = rows()
        // From here on, nothing waits.
        guard window.sender.isCurrent else { throw LiveControl.userChanged }
        let judge = try QueryJudge(source.params.query, id: source.id)
        let decode = source.decoder(true)
        var (records, rows, missing): ([Model], [ResultRow], [ServiceID]) = ([], [], [])
        for id in ids {
            let row = known[id.known.key]
            let record = try row.flatMap { row in
                let written = row.isWritten ? source.decodeWritten(row, judge, decode) : nil
                return try written ?? decode(judge.select(row.record))
            }
            if let row, let record {
                records.append(record)
                rows.append(row)
            } else {
                missing.append(id.wanted)
            }
        }
        let dates = rows.filter { !$0.isProvisional }.map { row in
            current.contains(row.key) ? Date.current : answer.stored?.dates[row.key] ?? .distantPast
        }
        let result = StoredResult(
            value: records, source: answer.isFromServer ? .server : .stored(since: dates.min() ?? .distantPast),
            missing: missing, hasPendingWrites: rows.contains { $0.writeState != .confirmed })
        return (result, rows)
    }

    /// Returns why there is no record.
    private func reason(_ answer: Answer) -> FeathersError {
        let (id, path) = (ids.first?.known, source.service.path)
        let name = "Record '\(id?.description ?? "")' of service '\(path)'"
        let isKnown = answer.stored?.records.isEmpty == false || answer.isFromServer || !current.isEmpty
        let isRemoved = window.withState { store, _ in
            store.queue.contains { $0.key == id?.key && $0.write.method == .remove && $0.isEffective }
        }
        if isKnown || isRemoved {
            return answer.isFromServer
                ? answer.failure ?? FeathersError(.notFound, "\(name) is not shown")
                : FeathersError(.notFound, "\(name) was removed, or does not match the params", execution: .neverSent)
        }
        if let failure = answer.failure { return failure }
        var error = FeathersError(.notStored, "\(name) is not on this device", execution: .neverSent)
        (error.name, error.className) = ("NotStored", "not-stored")
        return error
    }
}
