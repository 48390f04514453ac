import Feathers
import FeathersCore
import Foundation

@testable import FeathersSync

/// What a live query must show: what the server last told of each record, and the pending writes applied one by one.
///
/// For each record, the oracle knows the positions of the server's changes of which this client may have been told
/// last. They are several only between an answer and the events that were sent before it; in that time, any of the
/// states between them may be shown.
struct LocalOracle {
    /// A write that the server has answered, and whose result events and fetches may not have shown yet.
    struct Answered {
        let write: OutboxWrite
        let id: Int64
        let position: Int
        /// The record that the server has responded with.
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

    /// What is known of a result: the positions of the last changes told, by record.
    struct Told {
        var positions: [Int64: ClosedRange<Int>] = [:]
        /// The new records that were told of, which the client takes for those that it creates.
        var new: Set<Int64> = []
        /// What was told of records outside of the result, of which later fetches tell nothing, and until which
        /// position it held.
        var outside: [Int64: [JSONObject: Int]] = [:]
        /// The records of which that is not certain, because the client's result may not contain them.
        var perhapsNew: Set<Int64> = []

        subscript(id: Int64) -> ClosedRange<Int> { positions[id] ?? 0...0 }
    }

    let query: Query<JSONValue>
    let matcher: QueryMatcher
    let sorter: QuerySorter?
    let limit: Int
    var told = Told()
    /// Whether the server has told anything since the process began or the user changed.
    var isFromServer = false
    /// Whether a kept result or the server has told anything.
    var isKnown = false
    var answered: [Answered] = []
    /// The writes that the server has answered, and whose events have not been heard and may have been lost. If others
    /// follow, only a fetch can tell which is older, and until then the write stays shown.
    private(set) var unheard: [Answered] = []
    /// Events since the process began, to know which were applied again to a fetch's result.
    var heard: [(id: Int64, position: Int, isLeft: Bool)] = []
    /// How many of them a previous user has heard, of which the client knows nothing more.
    private var heardByOthers = 0
    /// The writes that were sent again and executed, until a fetch that began later tells what they did. Events like
    /// theirs are left to it.
    private var repeated: [(id: Int64, name: EventName, call: Int)] = []
    /// What is on the disk, by user.
    private var kept: [String: Kept] = [:]
    /// The keys with which each record's creation was sent, by its provisional id. A decision to replace the data gives
    /// it another key.
    var keys: [String: Set<String>] = [:]
    /// Whether a snapshot has been shown that is not on the disk.
    var isChanged = false
    var exactRows = 0
    var looseRows = 0

    init(_ query: Query<JSONValue>) throws {
        self.query = query
        matcher = try QueryMatcher(query)
        sorter = try QuerySorter(query)
        limit = query.json["$limit"]?.integer.map { Int($0) } ?? .max
    }

    var isLimited: Bool { limit != .max }
    /// Whether every record is in the result.
    var isWhole: Bool { !isLimited && query.json.allSatisfy { $0.key == "$sort" } }

    // MARK: What is told

    /// - Parameter isLeft: Whether the event may be what a write that is being sent again has caused, with its first
    ///   result, which may be old. What has become of the record is for a fetch to tell, unless it was not known.
    mutating func heard(_ change: LocalServer.Change, _ server: LocalServer, isLeft: Bool) {
        let range = told[change.id]
        let isOfRepeated = repeated.contains { $0.id == change.id && $0.name == change.event.name }
        let isLeft = (isLeft || isOfRepeated) && (change.event.name != .created || range.upperBound > 0)
        heard.append((change.id, change.position, isLeft))
        if isLeft {
            // Recognized if it is not in the result.
            if change.event.name == .created { told.perhapsNew.insert(change.id) }
            // A later write may have shown what the repeated one has done, so that its event counts again, although it
            // may be older than a fetch.
            told.positions[change.id] = min(range.lowerBound, change.position)...max(range.upperBound, change.position)
            return
        }
        // Of a write that it was decided to send again, the event may be the first of two, so that a fetch must tell.
        unheard.removeAll { $0.position == change.position && !$0.isMissed }
        if change.event.name == .created { told.new.insert(change.id) }
        told.outside[change.id] = nil
        let isPlaced = isPlaced(change.id, change.event.name, server)
        told.positions[change.id] = (isPlaced ? change.position : 0)...max(range.upperBound, change.position)
    }

    /// Whether the place of a record is known. Without an order, that of an older one is for a fetch to say.
    private func isPlaced(_ id: Int64, _ name: EventName, _ server: LocalServer) -> Bool {
        sorter != nil || name == .created || exists(id, server, where: matcher.matches)
    }

    /// - Parameter pending: The writes that the server may have executed without having answered them.
    mutating func fetched(
        at position: Int, _ server: LocalServer, _ ids: [Int64], _ result: JSONValue, _ pending: [OutboxWrite],
        heardBefore: Int, call: Int
    ) {
        repeated.removeAll { $0.call < call }
        for index in answered.indices where answered[index].call < call { answered[index].isFetched = true }
        unheard.removeAll { $0.isMissed && $0.call < call }
        let known = Set((result.array ?? []).compactMap { $0["id"]?.integer })
        told.new.formUnion(known)
        // Events that are left to a later fetch do not replace those before them.
        var last: [Int64: (taken: Int, position: Int, isLeft: Bool)] = [:]
        for event in heard[heardBefore...] {
            let taken = event.isLeft ? last[event.id]?.taken ?? event.position : event.position
            last[event.id] = (taken, event.position, event.isLeft)
        }
        for id in ids {
            var outside = told.outside[id, default: [:]]
            let results = answered.filter { $0.id == id }.map { (record: $0.record?.object, until: $0.position) }
            for case (let record?, let until) in server.versions(of: id, in: told[id]) + results {
                if matcher.matches(.object(record)) {
                    if let record = takenOut(record, id, by: pending) { outside[record] = until }
                } else {
                    outside[record] = until
                }
            }
            told.outside[id] = known.contains(id) ? nil : outside
            let (taken, heard, isLeft) = last[id] ?? (position, position, false)
            told.positions[id] = (sorter == nil || isLeft ? min(taken, position) : heard)...max(heard, position)
        }
        (isFromServer, isKnown) = (true, true)
    }

    /// Returns a record as the first write made it that takes it out of the result, which is what a client believes if
    /// a result lacks it.
    private func takenOut(_ record: JSONObject, _ id: Int64, by pending: [OutboxWrite]) -> JSONObject? {
        var record: JSONValue? = .object(record)
        for write in pending where write.recordID?.description == "\(id)" {
            record = write.applied(to: record, key: "\(id)")
            if case .object(let object)? = record, !matcher.matches(.object(object)) { return object }
        }
        return nil
    }

    /// Records that the events since the connection was lost never arrive.
    mutating func missed() { for index in unheard.indices { unheard[index].isMissed = true } }

    /// - Parameters:
    ///   - isToldOf: Whether the app makes an event of the result itself, as over REST.
    ///   - isRepeated: Whether the write was sent again.
    ///   - isRetried: Whether it was decided to send it again, so that its event may not be the only one of its kind,
    ///     until a fetch tells.
    ///   - call: The number of calls made so far.
    mutating func executed(
        _ write: OutboxWrite, id: Int64, at position: Int, _ record: JSONValue?, isToldOf: Bool, isRepeated: Bool,
        isRetried: Bool,
        call: Int, _ server: LocalServer
    ) {
        let range = told[id]
        if isRepeated, let name = EventName(endOf: write.method) { repeated.append((id, name, call)) }
        // The first result of a write that was sent again may be old, but nothing else may be told of a record outside
        // of the result.
        if isRepeated, case .object(let record)? = record, !matcher.matches(.object(record)) {
            told.outside[id, default: [:]][record] = position
        }
        if isToldOf { heard.append((id, position, false)) }
        let lowest =
            isToldOf
            ? EventName(endOf: write.method).map { isPlaced(id, $0, server) ? position : 0 } ?? 0 : range.lowerBound
        told.positions[id] = lowest...max(range.upperBound, position)
        answered.append(Answered(write: write, id: id, position: position, record: record, call: call))
        if !isToldOf, isRetried || !heard[heardByOthers...].contains(where: { $0.position == position && !$0.isLeft }) {
            unheard.append(answered[answered.count - 1])
            if isRetried { unheard[unheard.count - 1].isMissed = true }
        }
    }

    /// Forgets the writes whose results have been told otherwise. A fetch that is in flight may not include them.
    mutating func forgetAnswered() { answered.removeAll { $0.position <= told[$0.id].lowerBound } }

    /// - Parameter pending: The writes that the outbox holds.
    mutating func keep(as user: String, _ pending: [OutboxWrite.ID], at date: Date) {
        guard isFromServer else { return }
        if isChanged {
            kept[user] = Kept(told: told, date: date, unsettled: Set(pending + (answered + unheard).map(\.write.id)))
        } else {
            // The same to see, but perhaps not the same underneath.
            let before = kept[user]?.told ?? Told()
            for (id, range) in told.positions {
                kept[user]?.told.positions[id] = before[id].lowerBound...range.upperBound
            }
        }
        isChanged = false
    }

    /// Starts again from the disk.
    mutating func restore(as user: String, _ executed: [Stored], _ server: LocalServer) {
        (answered, unheard, repeated, isFromServer, isChanged) = ([], [], [], false, false)
        heardByOthers = heard.count
        let kept = kept[user]
        isKnown = kept != nil
        told = kept?.told ?? Told()
        // Of the records that were told of, only those in the result are on the disk.
        told.perhapsNew.formUnion(told.new)
        told.new = told.new.filter { id in !isLimited && exists(id, server, where: matcher.matches) }
        // The results of writes are on the disk too. Those that the kept result may lack are applied to it, but it may
        // be newer. Without one, they are shown alone.
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
}

extension LocalOracle {
    /// Whether a request fetches this query's result.
    func isFetched(by request: Query<JSONValue>) -> Bool {
        query.json.allSatisfy { name, value in
            if name == "$limit" { return request.json[name] != nil }
            if name == "$sort" {
                return value.object?.allSatisfy { request.json["$sort"]?[$0.key] == $0.value } ?? false
            }
            return request.json[name] == value
        } && (query.json["$limit"] == nil) == (request.json["$limit"] == nil) && request.json.count == query.json.count
    }
}
