// Locks: State of one opening, in the task that reads the snapshots.

import FeathersCore
import FeathersSupport
import Foundation

/// A half of a list around a record that this device has, to be shown until the server responds.
struct StoredHalf: Sendable {
    /// For whom it is.
    let sender: RequestSender
    let list: RestoredList

    /// The number of records that are taken from a longer list.
    private static let limit = 1_000

    fileprivate init(
        _ rows: some Collection<ResultRow>, isComplete: Bool, _ query: Query<JSONValue>, date: Date,
        _ sender: RequestSender
    ) {
        let sorter = try? QuerySorter(query, comparesMoments: true)
        let sorted = rows.prefix(Self.limit).sorted { left, right in
            let order = sorter?.order(of: left.sortValue, { left.record[$0] }, and: right.sortValue) {
                right.record[$0]
            }
            return order ?? 0 < 0
        }
        let placed = sorted.enumerated().map { index, row in row.moved(to: (index + 1) * Window.placeStep) }
        let head = ListHead(
            number: 0, change: 0, date: date, count: placed.count, total: nil, limit: nil, growth: 0,
            isComplete: isComplete && rows.count <= Self.limit, isSorted: true, isShaped: false)
        (self.sender, list) = (sender, RestoredList(head: head, rows: ResultRows(placed), isWhole: true, newer: []))
    }
}

extension LiveSource {
    /// Finds the records around one in a list with the same conditions and order, which another live query shows or has
    /// stored. Without such a list, there is only the record itself, if this device has it.
    /// - Parameters:
    ///   - origin: Where the record comes from; nil if another live query shows it. If the server has just sent it, the
    ///     others can be fetched too.
    ///   - halves: The queries for the records before it, and from it on.
    /// - Returns: Nil if there is nothing to show.
    func surroundings(
        of anchor: ServiceID, _ record: JSONValue, from origin: ResultSource?,
        _ halves: (before: LiveSource, after: LiveSource), in store: LiveStore
    ) async -> (before: StoredHalf, after: StoredHalf)? {
        guard let lists = service.app.storedLists, stores, origin != .server else { return nil }
        let sender = store.key.sender
        func half(_ rows: some Collection<ResultRow>, _ isComplete: Bool, of half: LiveSource, at date: Date)
            -> StoredHalf
        {
            StoredHalf(rows, isComplete: isComplete, half.query, date: date, sender)
        }
        // Of one that is from disk, the rest may not have been read yet.
        let open = store.withState { state in
            let all = state.store.windows.values.filter { window in
                window.source == .server && isSame(window) && window[anchor.key] != nil
            }
            return all.first { !isOpposite($0.judge.request) } ?? all.first
        }
        let window = if let open { Window?.some(open) } else { await storedWindow(around: anchor, store, lists) }
        guard let sorter = try? QuerySorter(halves.after.query, comparesMoments: true) else { return nil }
        guard let window, let own = window[anchor.key] else {
            guard case .stored(let stored) = origin else { return nil }
            let row = ResultRow(Record(anchor.key, record), sortValue: sorter.firstValue { record[$0] })
            return (half([], false, of: halves.before, at: stored), half([row], false, of: halves.after, at: stored))
        }
        let date = if case .stored(let date) = window.source { date } else { Date.current }
        let isReversed = isOpposite(window.judge.request)
        let rows = isReversed ? window.known.reversed() : Array(window.known)
        // In the opposite order, equal records are in the same one.
        func isBefore(_ row: ResultRow) -> Bool {
            sorter.order(of: row.sortValue, { row.record[$0] }, and: own.sortValue) { own.record[$0] } < 0
        }
        return (
            half(rows.filter(isBefore).reversed(), !isReversed || window.isComplete, of: halves.before, at: date),
            half(rows.filter { !isBefore($0) }, isReversed || window.isComplete, of: halves.after, at: date)
        )
    }

    /// Reads the newest stored list that has the record.
    private func storedWindow(around anchor: ServiceID, _ store: LiveStore, _ lists: StoredLists) async -> Window? {
        guard let key = listKey(for: store.key.sender.identity)?.service else { return nil }
        let texts = try? await lists.database.read { database -> [String] in
            guard let service = try RecordTables.service(key, in: database) else { return [] }
            return try ListTables.texts(of: service, in: database)
        }
        for text in texts ?? [] {
            guard let values = try? JSONValue(parsing: Array(text.utf8)[...]), values["relation"] == nil,
                values["replica"] == nil,
                let query = values["query"]?.object.map({ Query<JSONValue>($0) }), isSame(query),
                let judge = try? QueryJudge(query, id: id, operators: operators)
            else { continue }
            let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)).continuation
            let window = store.open(Window(judge, hasRoute: !params.route.isEmpty), wake)
            await LiveStored.readAll(self, lists, lists.slot(ListKey(service: key, text: text)), judge, into: window)
            let read = window.withState { store, _ in store.windows[window.id] }
            if let read, isSame(read), read[anchor.key] != nil { return read }
        }
        return nil
    }

    /// Whether a window has the first records of a list with the conditions of this one, in a known order.
    private func isSame(_ window: Window) -> Bool {
        window.isKnown && window.isShared && window.judge.keys == nil && window.order.isSorted
            && isSame(window.judge.request)
    }

    /// Whether a query has the conditions of this one, and its order or the opposite one.
    private func isSame(_ other: Query<JSONValue>) -> Bool {
        func conditions(_ query: Query<JSONValue>) -> JSONObject {
            var json = query.json
            for name in ["$limit", "$sort"] { json[name] = nil }
            return json
        }
        let query = params.query.joined(with: query)
        let (own, its) = (directions(query), directions(other))
        return other.json["$skip"] == nil && conditions(query) == conditions(other)
            && own.map(\.name) == its.map(\.name)
            && !own.isEmpty && Set(zip(own, its).map { $0.isDescending == $1.isDescending }).count == 1
    }

    private func isOpposite(_ other: Query<JSONValue>) -> Bool {
        directions(other).first?.isDescending != directions(params.query.joined(with: query)).first?.isDescending
    }

    /// The order of a query, without the id that comes last in all of them.
    private func directions(_ query: Query<JSONValue>) -> [(name: String, isDescending: Bool)] {
        let all = (query.json["$sort"]?.object ?? [:]).map { name, value in
            (name: name, isDescending: (value.integer ?? value.string.flatMap { Int64($0) } ?? 1) < 0)
        }
        return all.count > 1 && all.last?.name == id ? all.dropLast() : all
    }
}

extension ListTables {
    /// The texts of the lists of a service that share its records, the newest first.
    fileprivate static func texts(of service: Int, in database: Database) throws -> [String] {
        let sql = "SELECT query FROM lists WHERE service = ? AND is_shaped = 0 ORDER BY date DESC"
        return try database.rows(sql, SQLiteValue(service)) { try $0.string(0) ?? "" }
    }
}
