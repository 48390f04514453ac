// Locks: State of one answer.

import FeathersCore
import FeathersSupport
import Foundation

extension LiveSource {
    /// Returns a replica that has all records of a window's query; nil if the server must be asked.
    func replica(for window: LiveWindow) -> StoredReplica? {
        guard let replicas = service.app.storedLists?.replicas.all, !replicas.isEmpty, relation?.counted == nil,
            let service = listKey(for: window.sender.identity)?.service
        else { return nil }
        let query = params.query.joined(with: query)
        return replicas.first { $0.covers(query, of: service) }
    }
}

extension StoredReplica {
    /// Whether the replica has all records that meet a query: its conditions are among those of the query.
    func covers(_ query: Query<JSONValue>, of service: ServiceKey) -> Bool {
        guard let open, open.head.isComplete, open.key.service == service else { return false }
        return filter.json.allSatisfy { query.json[$0.key] == $0.value }
    }

    /// Answers a fetch of a window.
    /// - Returns: Nil if only the server can.
    func answer(_ query: Query<JSONValue>, _ fetch: Window.Fetch, _ window: LiveWindow) async throws -> ReplicaAnswer? {
        let wanted = window.withState { store, _ in (store.windows[window.id]?.judge, store.records.hasUnstored) }
        guard var judge = wanted.0, judge.canMatch, window.sender.isCurrent else { return nil }
        do {
            if wanted.1 { try await save(window.store) }
            guard let open else { return nil }
            var query = query
            if let keys = fetch.keys {
                judge.keys = keys
                query.json[keys.property] = ["$in": .array(keys.values.values.map(\.self))]
            }
            guard let (rows, isWhole) = try await rows(query, judge, open) else { return nil }
            let limit = query.json["$limit"]?.integer.map { Int(clamping: $0) }
            let skip = query.json["$skip"]?.integer.map { Int(clamping: $0) } ?? 0
            let shown = rows.dropFirst(skip).prefix(limit ?? .max)
            // In this order: a synchronization that begins is not current any more before nothing else is wanted.
            let isWanted = window.withState { store, _ in
                open.watch.map { store.watches[$0]?.wanted != nil } ?? true
            }
            let isCurrent = !isWanted && self.open?.isCurrent == true
            let source: ResultSource = isCurrent ? .server : .stored(since: open.head.date ?? .distantPast)
            return ReplicaAnswer(rows: Array(shown), total: isWhole ? rows.count : nil, source: source)
        } catch {
            if error is CancellationError { throw error }
            if !(error is ReplicaLost) {
                source.service.app.diagnostics.log(
                    .warning, .localStore,
                    "The replica of service '\(source.service.path)' cannot be read, so the server is asked: \(error)",
                    [.path: .string(source.service.path)], error: error)
            }
            return nil
        }
    }

    /// Returns the rows that meet a query, in its order, or the first ones.
    /// - Returns: The rows, and whether these are all; nil if only the server knows.
    private func rows(
        _ query: Query<JSONValue>, _ judge: QueryJudge, _ open: Open
    ) async throws -> (rows: [ResultRow], isWhole: Bool)? {
        let search = ReplicaSearch(query, of: open.head.list, indexes)
        // With a limit of 0, the number of records is wanted.
        let wanted = query.json["$limit"]?.integer.flatMap { $0 > 0 ? Int(clamping: $0) : nil }.map {
            $0 + Int(clamping: query.json["$skip"]?.integer ?? 0)
        }
        let list = open.head.list
        let begun = try await lists.database.write { [own = self.judge, indexes, judge] database -> Begun? in
            guard var head = try ReplicaTables.head(open.key, in: database), head.list == list else { return nil }
            if try ReplicaTables.place(&head, own, indexes, in: database) {
                try ReplicaTables.write(head, in: database)
            }
            return try Begun(search, wanted, judge: judge, in: database)
        }
        guard let begun else { throw ReplicaLost() }
        var (rows, isKnown) = ([ResultRow](), true)
        for start in stride(from: 0, to: max(begun.numbers.count, 1), by: 2_000) {
            let numbers = begun.numbers[start...].prefix(2_000)
            let records = try await lists.database.read { try ReplicaTables.records(Array(numbers), in: $0) } ?? []
            let present = (begun.records + records).filter { $0.json != nil }
            let starts = Array(stride(from: 0, to: present.count, by: 256))
            let parts = try await starts.concurrentMap(isolation: nil) { start in
                try judge.storedRows(of: present[start...].prefix(256), from: start)
            }
            for row in parts.joined() {
                switch judge.judges(row.record) {
                case true?: rows.append(row)
                case false?: break
                case nil: isKnown = false
                }
            }
        }
        guard isKnown else { return nil }
        if let sorter = judge.sorter {
            rows = ResultRows(rows).inOrder(of: sorter).map(\.self)
        }
        return (rows.enumerated().map { $1.moved(to: ($0 + 1) * Window.placeStep) }, begun.isWhole)
    }

    /// What was read of candidates in one step.
    private struct Begun: Sendable {
        /// The records of the first ones, if they were found in order.
        var records: [StoredRecord] = []
        /// The numbers of all, otherwise.
        var numbers: [Int] = []
        var isWhole = true

        init(_ search: ReplicaSearch, _ wanted: Int?, judge: QueryJudge, in database: Database) throws {
            guard let wanted else {
                numbers = try search.candidates(after: 0, nil, in: database).numbers
                return
            }
            var (skipped, found) = (0, 0)
            while true {
                let next = try search.candidates(after: skipped, max(2 * wanted, 64), in: database)
                if skipped == 0, !next.hasMore {
                    numbers = next.numbers
                    return
                }
                let read = try ReplicaTables.records(next.numbers, in: database)
                records += read
                found += try read.values().count { $0.map(judge.matches) ?? false }
                skipped += next.numbers.count
                isWhole = !next.hasMore
                if isWhole || found >= wanted { return }
            }
        }
    }
}
