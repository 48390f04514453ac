// Locks: State of one synchronization, in the task of its replica.

import FeathersCore
import FeathersSupport
import Foundation

/// Brings a replica up to date: the first copy, or what has changed since, then what was removed.
struct ReplicaSync: Sendable {
    private let replica: StoredReplica
    private let app: FeathersApp
    private let watch: LiveWatch
    private var store: LiveStore { watch.store }
    private var source: LiveSource<JSONValue> { replica.source }

    init(_ replica: StoredReplica, _ app: FeathersApp, _ watch: LiveWatch) {
        (self.replica, self.app, self.watch) = (replica, app, watch)
    }

    func run() async throws {
        guard let head = replica.open?.head else { throw ReplicaLost() }
        replica.setCurrent(false)
        store.withState { $0.store.watches[watch.id]?.begin() }
        replica.report { ($0.isUpToDate, $0.failure) = (false, nil) }
        // What was removed while a copy was interrupted is not known.
        let isResumed = !head.isComplete && head.cursor != nil
        if head.isComplete { try await readLog(head) } else { try await beginLog(head) }
        try await readChanges(head)
        if isResumed || isComparisonDue(head) { try await compare() }
        try await replica.save(store) { head in
            head.date = .current
            if head.compared == nil { head.compared = .current }
        }
        replica.setCurrent(true)
        let isUpToDate = store.withState { $0.store.watches[watch.id]?.wanted == nil }
        replica.report { $0.isUpToDate = isUpToDate }
        // What was shown in the meantime says that it may be older.
        store.change { $0.store.askAgain() }
    }

    // MARK: Changes

    /// Reads the records that have changed, in the order of their changes.
    private func readChanges(_ head: ReplicaHead) async throws {
        let first = head.isComplete ? head.cursor?.earlier(by: replica.overlap) : head.cursor
        var cursor = ReplicaCursor(
            replica.filter, version: replica.version, id: source.id, path: source.service.path, from: first?.included)
        while !cursor.isOver {
            let begun = replica.lists.clock.now
            let (page, asked) = try await ask(cursor.next)
            if page.isEmpty, !cursor.isTie, let start = cursor.start { try await checkVersions(from: start) }
            try cursor.received(page, asked: asked)
            let isOver = cursor.isOver
            if head.cursor == nil, let total = page.total {
                // Later pages have the records that follow.
                replica.report { $0.total = $0.total ?? total }
            }
            try await replica.save(store) { [last = cursor.last] saved in
                if let last, saved.cursor.map({ $0 < last }) ?? true { saved.cursor = last }
                if isOver { saved.isComplete = true }
            }
            // Leaves time for other calls.
            if !head.isComplete, !isOver {
                try await replica.lists.clock.sleep(for: replica.lists.clock.now - begun)
            }
        }
    }

    /// Checks that there are no records from a version on, because none were found: a server may compare it as text, or
    /// text with its dates.
    private func checkVersions(from start: ReplicaVersion) async throws {
        let query = replica.filter.sorted(by: replica.version, .descending).limit(1)
        let (page, _) = try await app.asOwnWork { try await source.page(query) }
        guard let newest = ReplicaVersion(page.first?[replica.version]), !(newest < start) else { return }
        throw FeathersError(
            .generalError,
            "Service '\(source.service.path)' does not find records by the '\(replica.version)' that it has sent: it may "
                + "compare it as text, or text with dates", execution: .answered)
    }

    /// Requests a page, and takes its records.
    /// - Returns: The page, and the number of records that were requested.
    @discardableResult
    private func ask(_ query: Query<JSONValue>) async throws -> (page: Page<JSONValue>, asked: Int) {
        while true {
            guard watch.store.key.sender.isCurrent else { throw ReplicaLost() }
            let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)).continuation
            let judge = try QueryJudge(query, id: source.id, operators: source.operators)
            let window = store.open(Window(judge, hasRoute: !source.params.route.isEmpty), wake)
            let begun = window.withState { store, _ in store.beginFetch(window.id) }
            guard let begun else { throw ReplicaLost() }
            let (page, effects) = try await app.asOwnWork { try await source.page(begun.request) }
            if effects.changeQueries || effects.changeResults && !page.isEmpty {
                throw FeathersError.refused(
                    "Hooks of service '\(source.service.path)' change what 'find' sends or returns, so that its records "
                        + "cannot be a replica")
            }
            let isTaken = try window.change { store, _ in
                try store.took(window.id, begun.fetch.time, FetchedPage(page: page, effects: effects), for: watch.id)
            }
            if isTaken { return (page, begun.fetch.asked ?? .max) }
        }
    }

    // MARK: Removals

    /// Reads the log of removals from its end on, so that a first copy misses none.
    private func beginLog(_ head: ReplicaHead) async throws {
        guard let log = replica.removals.log, head.logged == nil else { return }
        let query = Query<JSONValue>().sorted(by: log.version, .descending).limit(1)
        let (page, _) = try await source(of: log).page(query)
        guard let last = ReplicaVersion(page.first?[log.version]) else { return }
        try await replica.save(store) { $0.logged = last }
    }

    /// Reads what the log says of removals since.
    private func readLog(_ head: ReplicaHead) async throws {
        guard let log = replica.removals.log else { return }
        let logSource = source(of: log)
        var cursor = ReplicaCursor(
            log.filter, version: log.version, id: logSource.id, path: log.path,
            from: head.logged?.earlier(by: replica.overlap).included)
        while !cursor.isOver {
            let query = cursor.next
            let (page, _) = try await app.asOwnWork { try await logSource.page(query) }
            try cursor.received(page, asked: ReplicaCursor.pageSize)
            let ids = page.data.compactMap { $0[log.id].flatMap { ServiceID($0) } }
            let members = try await members(ids)
            try await check(members)
            try await replica.save(store) { [last = cursor.last] saved in
                if let last, saved.logged.map({ $0 < last }) ?? true { saved.logged = last }
            }
        }
    }

    private func source(of log: ReplicaRemovals.Log) -> LiveSource<JSONValue> {
        app.service(log.path, of: JSONValue.self).ownLive(params: Params(), stores: false).source
    }

    /// Returns the ids of records that the replica has.
    private func members(_ ids: [ServiceID]) async throws -> [ServiceID] {
        guard let head = replica.open?.head else { throw ReplicaLost() }
        return try await replica.lists.database.read { database in
            try ids.filter { try ReplicaTables.hasMember($0.key, of: head, in: database) }
        } ?? []
    }

    // MARK: Comparing

    private func isComparisonDue(_ head: ReplicaHead) -> Bool {
        guard head.isComplete, let compared = head.compared else { return false }
        let now = Date.current
        let isForgotten = replica.removals.retention.flatMap { limit in
            head.date.map { now.timeIntervalSince($0) > limit / .seconds(1) }
        }
        if isForgotten == true {
            app.diagnostics.log(
                .notice, .localStore,
                "The replica of service '\(source.service.path)' was away for longer than removals are kept, so all ids "
                    + "are compared", [.path: .string(source.service.path)])
            return true
        }
        return now.timeIntervalSince(compared) >= replica.removals.interval / .seconds(1)
    }

    /// Compares the ids and versions of all records with those of the server. Records that it no longer shows in the
    /// result are asked for: they were removed, have left the conditions, or must not be seen any more. So are those that
    /// are missing here or have another version, because they were stored late, or could not be seen for some time.
    private func compare() async throws {
        try await replica.save(store)
        guard let head = replica.open?.head else { throw ReplicaLost() }
        let known = try await replica.lists.database.read { [version = replica.version] database in
            try ReplicaTables.versions(of: head, version, in: database)
        }
        var (missing, different) = (known ?? [:], [ServiceID]())
        let conditions = replica.filter.joined(with: replica.removals.condition)
            .selecting([source.id, replica.version])
        var cursor = try PageCursor(conditions, size: ReplicaCursor.pageSize, key: source.id)
        while let query = try cursor.next(atMost: 1).first {
            let (page, _) = try await app.asOwnWork { try await source.page(query) }
            try cursor.received(page)
            for record in page.data {
                guard let id = record[source.id].flatMap({ ServiceID($0) }) else { continue }
                let version = record[replica.version].map { SQLiteValue.text($0.string ?? $0.description) }
                if missing.removeValue(forKey: id.key) != version { different.append(id) }
            }
        }
        try await check(try await ids(of: Set(missing.keys)))
        try await check(different)
        try await replica.save(store) { $0.compared = .current }
    }

    /// Returns the ids of records by their keys.
    private func ids(of keys: Set<String>) async throws -> [ServiceID] {
        guard let head = replica.open?.head, !keys.isEmpty else { return [] }
        return try await replica.lists.database.read { [id = source.id] database in
            try keys.sorted().compactMap { key in
                guard let record = try RecordTables.record(key, of: head.service, in: database),
                    let value = try [record].values().first ?? nil
                else { return nil }
                return value[id].flatMap { ServiceID($0) }
            }
        } ?? []
    }

    /// Asks for records by their ids. Those that the server does not show were removed.
    private func check(_ ids: [ServiceID]) async throws {
        var wanted = RequestedIDs()
        for id in ids { wanted.append(id) }
        for chunk in wanted.chunks(of: await source.service.idsPerRequest) {
            let before = store.withState { state in chunk.map { state.store.records[$0.key] } }
            let (page, _) = try await ask(
                Query<JSONValue>().where(source.id, .isIn(chunk.map(\.json))).limit(chunk.count))
            let found = Set(page.data.compactMap { $0[source.id].flatMap { ServiceID($0) }?.key })
            store.change { state in
                for (id, old) in zip(chunk, before) where !found.contains(id.key) {
                    state.store.vanished(id.key, since: old)
                }
            }
            try await replica.save(store)
        }
    }
}

extension StoredReplica {
    /// How long until ids are compared.
    var nextComparison: Duration {
        let since = open?.head.compared.map { Date.current.timeIntervalSince($0) } ?? 0
        return max(removals.interval - .seconds(since), .seconds(1))
    }
}
