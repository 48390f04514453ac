import Feathers
import FeathersCore
import Foundation

@testable import FeathersSync

/// What a live query must show: what the server last told of each record, and the pending writes applied one by one.
///
/// For each record, the oracle knows the positions of the server's changes of which this client may have been told last. They are several only between
/// an answer and the events that were sent before it; in that time, any of the states between them may be shown.
struct LocalOracle {
    /// A write that the server has answered, and whose result events and fetches may not have shown yet.
    struct Answered {
        let write: OutboxWrite
        let id: Int64
        let position: Int
        /// The record that the server has created.
        let record: JSONValue?
        /// The number of calls made before the answer.
        let call: Int
        /// Whether a fetch that began later has been answered, so that the write is in its result.
        var isFetched = false
        /// Whether events were missed since, so that the one of this write never arrives.
        var isMissed = false
    }

    /// A write that the server has executed, as it is stored.
    struct Stored {
        let write: OutboxWrite.ID
        let id: Int64
        let position: Int
        let date: Date
    }

    /// What is on the disk of a result.
    private struct Kept {
        var told: Told
        let date: Date
        /// The writes that were pending then, or not known to be in the result.
        let unsettled: Set<OutboxWrite.ID>
    }

    /// A row that may be shown: its possible contents. Nil stands for no row.
    private struct Row {
        var contents: [JSONValue?]
        var state: Kind
    }

    enum Kind: Equatable, CustomStringConvertible {
        case confirmed, pending, failed

        var description: String {
            switch self {
            case .confirmed: "confirmed"
            case .pending: "pending"
            case .failed: "failed"
            }
        }
    }

    /// What is known of a result: the positions of the last changes told, by record.
    struct Told {
        var positions: [Int64: ClosedRange<Int>] = [:]
        /// The new records that were told of, which the client takes for those that it creates.
        var new: Set<Int64> = []
        /// The records of which that is not certain, because the client's result may not contain them.
        var perhapsNew: Set<Int64> = []

        subscript(id: Int64) -> ClosedRange<Int> { positions[id] ?? 0...0 }
    }

    let query: Query
    private let matcher: QueryMatcher
    private let sorter: QuerySorter?
    private let limit: Int
    var told = Told()
    /// Whether the server has told anything since the process began or the user changed.
    var isFromServer = false
    /// Whether a kept result or the server has told anything.
    var isKnown = false
    var answered: [Answered] = []
    /// The writes that the server has answered, and whose events have not been heard and may have been lost. If others follow, only a fetch can tell
    /// which is older, and until then the write stays shown.
    private var unheard: [Answered] = []
    /// Events since the process began, to know which were applied again to a fetch's result.
    var heard: [(id: Int64, position: Int, isLeft: Bool)] = []
    /// The writes that were sent again and executed, until a fetch that began later tells what they did. Events like theirs are left to it.
    private var repeated: [(id: Int64, name: EventName, call: Int)] = []
    /// What is on the disk, by user.
    private var kept: [String: Kept] = [:]
    /// The keys with which each record's creation was sent, by its provisional id. A decision to replace the data gives it another key.
    var keys: [String: Set<String>] = [:]
    /// Whether a snapshot has been shown that is not on the disk.
    var isChanged = false
    private(set) var exactRows = 0
    private(set) var looseRows = 0

    init(_ query: Query) throws {
        self.query = query
        matcher = try QueryMatcher(query)
        sorter = try QuerySorter(query)
        limit = query.json["$limit"]?.integer.map { Int($0) } ?? .max
    }

    var isLimited: Bool { limit != .max }
    /// Whether every record is in the result.
    var isWhole: Bool { !isLimited && query.json.allSatisfy { $0.key == "$sort" } }

    // MARK: What is told

    /// - Parameter isLeft: Whether the event may be what a write that is being sent again has caused, with its first result, which may be old. What has
    ///   become of the record is for a fetch to tell, unless it was not known.
    mutating func heard(_ change: LocalServer.Change, _ server: LocalServer, isLeft: Bool) {
        unheard.removeAll { $0.position == change.position }
        let range = told[change.id]
        let isOfRepeated = repeated.contains { $0.id == change.id && $0.name == change.event.name }
        let isLeft = (isLeft || isOfRepeated) && (change.event.name != .created || range.upperBound > 0)
        heard.append((change.id, change.position, isLeft))
        if isLeft {
            // Recognized if it is not in the result.
            if change.event.name == .created { told.perhapsNew.insert(change.id) }
            told.positions[change.id] = range.lowerBound...max(range.upperBound, change.position)
            return
        }
        if change.event.name == .created { told.new.insert(change.id) }
        // Without an order, the place of an older record is for a fetch to say.
        let isPlaced = sorter != nil || change.event.name == .created || exists(change.id, server) { included($0).isSome }
        told.positions[change.id] = (isPlaced ? change.position : 0)...max(range.upperBound, change.position)
    }

    mutating func fetched(at position: Int, _ ids: [Int64], _ result: JSONValue, heardBefore: Int, call: Int) {
        repeated.removeAll { $0.call < call }
        for index in answered.indices where answered[index].call < call { answered[index].isFetched = true }
        unheard.removeAll { $0.isMissed && $0.call < call }
        told.new.formUnion((result.array ?? []).compactMap { $0["id"]?.integer })
        var last: [Int64: (position: Int, isLeft: Bool)] = [:]
        for event in heard[heardBefore...] { last[event.id] = (event.position, event.isLeft) }
        for id in ids {
            let (heard, isLeft) = last[id] ?? (position, false)
            told.positions[id] = (sorter == nil || isLeft ? min(heard, position) : heard)...max(heard, position)
        }
        (isFromServer, isKnown) = (true, true)
    }

    /// Records that the events since the connection was lost never arrive.
    mutating func missed() { for index in unheard.indices { unheard[index].isMissed = true } }

    /// - Parameters:
    ///   - isToldOf: Whether the app makes an event of the result itself, as over REST.
    ///   - isRepeated: Whether the write was sent again.
    ///   - call: The number of calls made so far.
    mutating func executed(
        _ write: OutboxWrite, id: Int64, at position: Int, _ record: JSONValue?, isToldOf: Bool, isRepeated: Bool, call: Int
    ) {
        let range = told[id]
        if isRepeated, let name = EventName(endOf: write.method) { repeated.append((id, name, call)) }
        if isToldOf { heard.append((id, position, false)) }
        told.positions[id] = isToldOf ? position...max(range.upperBound, position) : range.lowerBound...max(range.upperBound, position)
        answered.append(Answered(write: write, id: id, position: position, record: record, call: call))
        if !isToldOf, !heard.contains(where: { $0.position == position }) { unheard.append(answered[answered.count - 1]) }
    }

    /// Forgets the writes whose results have been told otherwise. A fetch that is in flight may not include them.
    mutating func forgetAnswered() { answered.removeAll { $0.position <= told[$0.id].lowerBound } }

    /// - Parameter pending: The writes that the outbox holds.
    mutating func keep(as user: String, _ pending: [OutboxWrite.ID], at date: Date) {
        guard isFromServer else { return }
        if isChanged {
            kept[user] = Kept(told: told, date: date, unsettled: Set(pending + answered.map(\.write.id)))
        } else {
            // The same to see, but perhaps not the same underneath.
            let before = kept[user]?.told ?? Told()
            for (id, range) in told.positions { kept[user]?.told.positions[id] = before[id].lowerBound...range.upperBound }
        }
        isChanged = false
    }

    /// Starts again from the disk.
    mutating func restore(as user: String, _ executed: [Stored], _ server: LocalServer) {
        (answered, unheard, repeated, isFromServer, isChanged) = ([], [], [], false, false)
        let kept = kept[user]
        isKnown = kept != nil
        told = kept?.told ?? Told()
        // Of the records that were told of, only those in the result are on the disk.
        told.perhapsNew.formUnion(told.new)
        told.new = told.new.filter { id in !isLimited && exists(id, server, where: { included($0).isSome }) }
        // The results of writes are on the disk too. Those that the kept result may lack are applied to it, but it may be newer. Without one, they are
        // shown alone.
        for write in executed {
            if let kept, !kept.unsettled.contains(write.write), write.date <= kept.date - 1 { continue }
            let range = told[write.id]
            told.positions[write.id] = min(range.lowerBound, write.position)...max(range.upperBound, write.position)
        }
    }

    /// Returns whether a record meets a condition in every state of which this client may have been told last.
    func exists(_ id: Int64, _ server: LocalServer, where condition: (JSONValue) -> Bool = { _ in true }) -> Bool {
        server.versions(of: id, in: told[id]).allSatisfy { $0.record.map { condition(.object($0)) } ?? false }
    }

    // MARK: What is shown

    /// Compares what is shown with what must be.
    /// - Returns: The differences.
    mutating func differences(
        _ shown: LiveSnapshot<JSONValue>, _ server: LocalServer, _ entries: [OutboxEntry], isFetching: Bool
    ) -> [String] {
        let (rows, loose) = rows(server, entries, isFetching: isFetching)
        var differences: [String] = []
        var seen: Set<String> = []
        for (record, state) in zip(shown.records, shown.states) {
            let key = record["id"].flatMap { ServiceID($0) }?.description ?? ""
            if !seen.insert(key).inserted { differences.append("\(key) is shown twice") }
            if loose.contains(key) { continue }
            guard let row = rows[key] else {
                differences.append("\(key) is shown: \(record)")
                continue
            }
            if !row.contents.contains(where: { $0.isSome && $0?.withTextID == record.withTextID }) {
                differences.append("\(record) is shown rather than \(row.contents)")
            }
            if Kind(state) != row.state { differences.append("\(key) is \(Kind(state)) rather than \(row.state)") }
            if row.contents.count(where: \.isSome) == 1 { exactRows += 1 } else { looseRows += 1 }
        }
        if let sorter {
            for (first, second) in zip(shown.records, shown.records.dropFirst()) where sorter.areInIncreasingOrder(second, first) {
                differences.append("\(second) is shown after \(first)")
            }
        }
        if shown.records.count > limit { differences.append("\(shown.records.count) records are shown") }
        // Of a limited result, the records that follow may not be known.
        guard isKnown, !isLimited || loose.isEmpty && !isFetching && isFromServer && rows.values.allSatisfy({ $0.contents.count == 1 })
        else { return differences }
        let first = isLimited ? firstKeys(server) : []
        for (key, row) in rows where !seen.contains(key) && !loose.contains(key) {
            guard row.contents.allSatisfy(\.isSome), let record = row.contents[0] else { continue }
            if isLimited {
                // Of records with the same rank at the end, any may be shown.
                let isBehind =
                    shown.records.count == limit && shown.records.last.map { !(sorter?.areInIncreasingOrder(record, $0) ?? false) } ?? true
                if isBehind || !first.contains(key) { continue }
            }
            differences.append("\(key) is not shown: \(record)")
        }
        return differences
    }

    /// The keys of records of which the client cannot know whether it has created them.
    func looseKeys(_ server: LocalServer, _ entries: [OutboxEntry]) -> Set<String> { rows(server, entries, isFetching: false).loose }

    /// The keys of the records that are first in the server's result, as last told.
    private func firstKeys(_ server: LocalServer) -> Set<String> {
        var records = told.positions.compactMap { id, range in
            server.versions(of: id, in: range).last?.record.map { JSONValue.object($0) }
        }.filter(matcher.matches)
        if let sorter { records = sorter.sorted(records) }
        return Set(records.prefix(limit).compactMap { $0["id"].flatMap { ServiceID($0) }?.description })
    }

    /// Returns the rows that may be shown, by key, and the keys of which nothing is known for sure.
    private func rows(
        _ server: LocalServer, _ entries: [OutboxEntry], isFetching: Bool
    ) -> (rows: [String: Row], loose: Set<String>) {
        // Created records, by the id under which they are shown until they are told of under another.
        var names: [String: String] = [:]
        var loose: Set<String> = []
        for entry in entries where entry.write.method == .create {
            let provisional = entry.write.provisionalKey()
            names[provisional] = provisional
            guard let id = server.made[entry.write.key.text], told[id].upperBound > 0 else { continue }
            let versions = server.versions(of: id, in: told[id])
            // Only what is in the result is told of, except by events.
            guard told.new.contains(id) else {
                let isPerhapsShown = versions.contains { included($0.record.map { .object($0) }).isSome }
                if isPerhapsShown || told.perhapsNew.contains(id) { loose.formUnion([provisional, "\(id)"]) }
                continue
            }
            names[provisional] = "\(id)"
            // Changed by others before it was told of, it cannot be recognized.
            let isRecognized = versions.allSatisfy { version in
                version.record.map { record in entry.write.data?.object?.allSatisfy { record[$0.key] == $0.value } ?? false } ?? false
            }
            if !isRecognized { loose.formUnion([provisional, "\(id)"]) }
        }
        // Of a record whose creation was given up, although it may have been executed, later writes know only the provisional id.
        for entry in entries where entry.write.method != .create {
            guard let key = entry.write.recordID?.description, names[key] == nil else { continue }
            let made = keys[key, default: []].compactMap { server.made[$0] }
            if !made.isEmpty { loose.formUnion([key] + made.map { "\($0)" }) }
        }
        func name(_ write: OutboxWrite) -> String {
            let key = write.method == .create ? write.provisionalKey() : write.recordID?.description ?? ""
            return names[key] ?? key
        }
        var rows: [String: Row] = [:]
        for id in told.positions.keys { rows["\(id)"] = Row(contents: contents(id, server, isFetching: isFetching), state: .confirmed) }
        for entry in entries {
            let key = name(entry.write)
            var row = rows[key] ?? Row(contents: [.none], state: .confirmed)
            if entry.isEffective { row.contents = row.contents.map { entry.write.applied(to: $0, key: key) } }
            if entry.failure != nil { row.state = .failed } else if row.state == .confirmed { row.state = .pending }
            rows[key] = row
        }
        for key in rows.keys {
            let contents = (rows[key]?.contents ?? []).map { included($0) }
            rows[key]?.contents = contents.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        }
        return (rows, loose)
    }

    private func included(_ record: JSONValue?) -> JSONValue? {
        guard let record, matcher.matches(record) else { return .none }
        return record
    }

    /// The possible contents of a row without pending writes.
    private func contents(_ id: Int64, _ server: LocalServer, isFetching: Bool) -> [JSONValue?] {
        let own = answered.filter { $0.id == id }
        let stale = isFetching ? unheard.filter { write in write.id == id && !own.contains { $0.position == write.position } } : []
        var contents: [JSONValue?] = []
        for version in server.versions(of: id, in: told[id]) {
            let record = version.record.map { JSONValue.object($0) }
            // What is not in the result is not known, and patches of it show nothing.
            var bases = [included(record)]
            if isLimited, bases[0].isSome { bases.append(.none) }
            for base in bases {
                func with(_ writes: [Answered]) -> JSONValue? {
                    writes.reduce(base) { record, write in
                        if write.write.method == .create, !record.isSome { return write.record }
                        return write.write.applied(to: record, key: "\(id)")
                    }
                }
                // Of what this state lacks, a fetch has ended only what was answered before it began.
                let remaining = own.indices.map { own[$0...] } + [[]]
                let possible = remaining.filter { rest in
                    own.dropLast(rest.count).allSatisfy { $0.isFetched || $0.position <= version.until }
                }
                for content in possible.map({ with(Array($0)) }) + [with(stale + own)] {
                    if !contents.contains(content) { contents.append(content) }
                    // The result of a write is not known either once it is answered, if the record is not in the result.
                    if !included(content).isSome, !contents.contains(.none) { contents.append(.none) }
                }
            }
        }
        return contents
    }
}

extension JSONValue? {
    /// Comparing with `nil` would be ambiguous, because it is JSON's null too.
    fileprivate var isSome: Bool { if case .some = self { true } else { false } }
}

extension JSONValue {
    /// The record with its id as text: a new id is text until the server's record is known.
    fileprivate var withTextID: JSONValue {
        guard case .object(var object) = self else { return self }
        object["id"] = (object["id"].flatMap { ServiceID($0) }?.description).map { .string($0) }
        return .object(object)
    }
}

extension LocalOracle.Kind {
    fileprivate init(_ state: RecordState) {
        switch state {
        case .confirmed: self = .confirmed
        case .pending: self = .pending
        case .failed: self = .failed
        }
    }
}

extension OutboxEntry {
    /// Whether the write is shown: a refused one is not, unless it creates a record.
    fileprivate var isEffective: Bool { failure == nil || failure?.reason == .unknown || write.method == .create }
}

extension OutboxWrite {
    /// The write applied to a record, as a service would.
    fileprivate func applied(to record: JSONValue?, key: String) -> JSONValue? {
        switch method {
        case .create:
            guard !record.isSome, case .object(var object)? = data else { return record }
            object["id"] = Int64(key).map { .integer($0) } ?? .string(key)
            return .object(object)
        case .update:
            guard case .object(var object)? = data else { return record }
            object["id"] = Int64(key).map { .integer($0) } ?? .string(key)
            return .object(object)
        case .patch:
            guard case .object(var object)? = record else { return .none }
            for (name, value) in data?.object ?? [:] where name != "id" { object[name] = value }
            return .object(object)
        default: return .none
        }
    }
}

extension LocalOracle {
    /// Whether a request fetches this query's result.
    func isFetched(by request: Query) -> Bool {
        query.json.allSatisfy { name, value in
            if name == "$limit" { return request.json[name] != nil }
            if name == "$sort" { return value.object?.allSatisfy { request.json["$sort"]?[$0.key] == $0.value } ?? false }
            return request.json[name] == value
        } && (query.json["$limit"] == nil) == (request.json["$limit"] == nil) && request.json.count == query.json.count
    }
}
