import Feathers
import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersSync

/// The laws that hold after every step, whatever the server has told and the app has heard.
extension LocalHistory {
    /// Returns which laws what the live queries show breaks.
    func brokenLaws() -> [String] {
        var broken: [String] = []
        let entries = entries
        for index in process.readers.indices {
            guard let read = process.readers[index]?.takeNew() else { continue }
            let (list, query) = (lists[index], lists[index].query)
            let entries = entries.filter { $0.write.path == list.place.path && $0.write.route == list.place.route }
            if let failure = read.failure { broken.append("\(list) ended with \(failure)") }
            for snapshot in read.new { broken += form(of: snapshot, list).map { "\(list): \($0)" } }
            shown[index] = read.new.last ?? shown[index]
            guard let snapshot = shown[index] else {
                if entries.contains(where: { isExpected($0, entries, query) }) {
                    broken.append("\(list) shows nothing")
                }
                continue
            }
            report.check(rows: snapshot.count)
            if user == "nobody", snapshot.contains(where: { $0.state == .confirmed }) {
                broken.append("\(list) shows no one \(Array(snapshot))")
            }
            broken += pending(in: snapshot, entries, query).map { "\(list): \($0)" }
        }
        return broken + states()
    }

    /// A confirmed record has one state in all lists of its place that are from disk. One that the server has sent may
    /// show a write in doubt as it was sent, until its own next page.
    private func states() -> [String] {
        var broken: [String] = []
        var known: [String: JSONValue] = [:]
        for (list, snapshot) in zip(lists, shown) where snapshot?.source != .server {
            for row in snapshot.map(Array.init) ?? [] where row.state == .confirmed {
                let key = "\(list.place.path) \(list.place.team ?? "") \(row.record["id"] ?? nil)"
                let other = known.updateValue(row.record, forKey: key)
                guard let other, other != row.record else { continue }
                broken.append("one record has two states: \(other), \(row.record)")
            }
        }
        return broken
    }

    /// A record that a list from disk shows is the same when it is read by its id, the queued writes included. The list
    /// may show a write in doubt as it was sent.
    func statesByID() async -> [String] {
        var broken: [String] = []
        for (list, snapshot) in zip(lists, shown) {
            guard let snapshot, snapshot.source != .server else { continue }
            let doubtful = process.doubtfulKeys(at: list.place)
            let records = snapshot.records.filter { record in
                record["id"].flatMap { ServiceID($0) }.map { !doubtful.contains($0.description) } ?? false
            }
            let ids = records.compactMap { $0["id"].flatMap { ServiceID($0) } }
            let service = process.app.service(list.place.path)
            do {
                let found = try await service.stored.find(
                    ids: ids, policy: .storedOnly, params: Params(route: list.place.route))
                if found.value != records { broken.append("\(list) shows \(records), but by id \(found.value)") }
            } catch {
                broken.append("\(list) cannot be read by ids: \(error)")
            }
        }
        return broken
    }

    /// Nothing is of another user, or there twice, or out of order, or beyond the limit.
    private func form(of snapshot: LiveSnapshot<JSONValue>, _ list: LocalList) -> [String] {
        let query = list.query
        var broken: [String] = []
        for record in snapshot.records where record["team"].map({ $0.string != list.place.team }) ?? false {
            broken.append("a record of another team: \(record)")
        }
        for record in snapshot.records where record["owner"]?.string.map({ $0 != user }) ?? false {
            broken.append("a record of another user: \(record)")
        }
        if Set(snapshot.map(\.id)).count < snapshot.count { broken.append("a row is shown twice: \(Array(snapshot))") }
        // Events and own writes do not say where a record of a route belongs, until a fetch does.
        if list.place.team == nil, let sorter = try? QuerySorter(query),
            sorter.sorted(Array(snapshot.records)) != Array(snapshot.records)
        {
            broken.append("out of order: \(Array(snapshot.records))")
        }
        if !has(.growth), let limit = query.json["$limit"]?.integer, snapshot.count > limit {
            broken.append("\(snapshot.count) rows")
        }
        return broken
    }

    /// Each pending write shows, and only what has a pending write is pending.
    private func pending(
        in snapshot: LiveSnapshot<JSONValue>, _ entries: [OutboxEntry], _ query: Query<JSONValue>
    ) -> [String] {
        var broken: [String] = []
        for entry in entries where isExpected(entry, entries, query) {
            let key = entry.write.key(id: "id")
            if !snapshot.contains(where: { $0.id == key }) { broken.append("the creation \(key) is not shown") }
        }
        for row in snapshot {
            let key = row.record["id"].flatMap { ServiceID($0) }?.description ?? ""
            let own = entries.filter { $0.concerns(key) }
            // What others have made of a record may be known, if the app chose its id.
            let shown = own.filter { $0.isEffective && !isCreated($0) }
            for (name, value) in Self.properties(shown) where row.record[name] != value {
                broken.append("\(row.record) lacks the pending \(name): \(value)")
            }
            if own.contains(where: { $0.isEffective && $0.write.method == .remove }) {
                broken.append("\(row.record) is shown although it is being removed")
            }
            let isRight =
                switch row.state {
                case .confirmed: own.isEmpty && row.write == nil
                case .pending: !own.isEmpty && own.allSatisfy { $0.failure == nil } && row.write == own.last?.id
                case .failed: own.contains { $0.failure != nil } && row.write == own.last?.id
                }
            if !isRight { broken.append("\(row.record) is \(row.state)") }
        }
        return broken
    }

    /// Whether the server has executed a creation whose id the app chose, although the app has no response.
    private func isCreated(_ entry: OutboxEntry) -> Bool {
        entry.write.method == .create && entry.write.data?["id"] != nil && server.created[entry.write.key.text] != nil
    }

    /// Whether a queued creation is to be seen: it matches, and nothing that follows removes it.
    private func isExpected(_ entry: OutboxEntry, _ entries: [OutboxEntry], _ query: Query<JSONValue>) -> Bool {
        guard entry.write.method == .create, query.json["$limit"] == nil else { return false }
        if isCreated(entry) { return false }
        let own = entries.filter { $0.concerns(entry.write.key(id: "id")) && $0.isEffective }
        guard !own.contains(where: { $0.write.method == .remove }) else { return false }
        let record = JSONObject(Self.properties(own).map { ($0.key, $0.value) })
        return (try? QueryMatcher(query).matches(.object(record))) ?? false
    }

    /// The properties that pending writes set.
    private static func properties(_ entries: [OutboxEntry]) -> [String: JSONValue] {
        entries.reduce(into: [:]) { properties, entry in
            if entry.write.method == .update { properties = [:] }
            for (name, value) in entry.write.data?.object ?? [:] { properties[name] = value }
        }
    }
}

extension OutboxEntry {
    fileprivate func concerns(_ key: String) -> Bool {
        write.key(id: "id") == key
    }

    /// Whether the write is shown: a refused one is not, unless it creates a record.
    fileprivate var isEffective: Bool { failure == nil || failure?.reason == .unknown || write.method == .create }
}

extension OutboxWrite {
    /// The id of its record, as rows show it.
    fileprivate func key(id: String) -> String {
        guard method == .create else { return recordID?.description ?? "" }
        return data?[id].flatMap { ServiceID($0) }?.description ?? provisionalKey()
    }
}
