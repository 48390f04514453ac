import FeathersCore
import FeathersTesting
import Foundation

@testable import FeathersSync

/// A random history of a live query with queued writes: a server, others who change its records, events and answers
/// that are late or lost, refusals.
///
/// Every change of a record gets a mark of its own, so that a row shows which changes it includes.
struct LiveViewHistory {
    private struct Attempt {
        let write: OutboxWrite
        /// The server's answer; nil until it has executed the write.
        var answer: Result<JSONValue, Refused>?
    }

    private struct Refused: Error {}

    private struct Fetch {
        let query: Query<JSONValue>
        let asked: Int
        let tick: Int
        var response: [JSONValue]?
    }

    private let query: Query<JSONValue>
    private var view: LiveView
    private var random: SeededGenerator
    private var records: [Int64: JSONObject] = [:]
    private var lastID: Int64 = 0
    private var lastMark: Int64 = 0
    /// The marks in the order in which the server took them.
    private var taken: [Int64: Int] = [:]
    private var takenCount = 0
    private var refused: Set<Int64> = []
    private var events: [ServiceEvent] = []
    private var pending: [OutboxWrite] = []
    private var number = 0
    private var attempts: [Attempt] = []
    private var fetch: Fetch?
    private var lastShown: [String: Int64] = [:]
    private var own: Set<Int64> = []
    /// The provisional ids of the records that the server has created.
    private var made: [Int64: String] = [:]
    private(set) var log: [String] = []
    private(set) var violations: [String] = []

    init(_ query: Query<JSONValue>, seed: UInt64) throws {
        self.query = query
        random = SeededGenerator(seed: seed)
        view = LiveView(try LiveQueryPlan(query, id: "id"))
        for _ in 0..<Int.random(in: 0...8, using: &random) { foreignChange() }
        events = []
        beginFetch()
        executeFetch()
        try endFetch()
    }

    mutating func play(steps: Int) throws {
        for _ in 0..<steps {
            switch Int.random(in: 0..<24, using: &random) {
            case 0..<5: queue()
            case 5..<8: send()
            case 8..<11: execute()
            case 11..<14: answer()
            case 14..<17: hear(1)
            case 17, 18: foreignChange()
            case 19: lose()
            case 20: if view.needsFetch { beginFetch() }
            case 21: executeFetch()
            default: try endFetch()
            }
            look()
            if !violations.isEmpty { return }
        }
        try rest()
    }

    // MARK: Steps

    private mutating func nextMark() -> Int64 {
        lastMark += 1
        return lastMark
    }

    private mutating func data() -> JSONObject {
        [
            "kind": .string(["a", "b"].randomElement(using: &random) ?? "a"),
            "rank": .integer(.random(in: 0...5, using: &random)),
            "mark": .integer(nextMark()),
        ]
    }

    private mutating func nextID() -> UUID {
        let bytes = (0..<2).map { _ in UInt64.random(in: .min ... .max, using: &random) }
        return withUnsafeBytes(of: (bytes[0], bytes[1])) { UUID(uuid: $0.load(as: uuid_t.self)) }
    }

    private mutating func queue() {
        let id = nextID()
        let provisional = pending.filter { $0.method == .create }.map { $0.provisionalKey() }
        // A record that is being created here is known by its provisional id, as the outbox sees to, until the response
        // has come.
        let known =
            records.keys.filter { made[$0].map { !provisional.contains($0) } ?? true }.map { ServiceID($0) }
            + provisional.map { ServiceID($0) }
        let target = known.sorted { $0.description < $1.description }.randomElement(using: &random)
        var data = data()
        let method: ServiceMethod =
            target == nil ? .create : [.create, .patch, .patch, .remove].randomElement(using: &random) ?? .patch
        if method == .patch, Bool.random(using: &random) { data["kind"] = nil }
        if method != .remove { own.insert(data["mark"]?.integer ?? 0) }
        let write = OutboxWrite(
            id: id, key: id, path: "records", method: method, recordID: method == .create ? nil : target,
            data: method == .remove ? nil : .object(data), query: Query(), route: [:], date: Date(), identity: nil,
            lane: "")
        number += 1
        pending.append(write)
        log.append("queued \(method) \(target?.description ?? write.provisionalKey()) \(data)")
        view.apply(.queued(write, number: number))
    }

    private func lane(of write: OutboxWrite) -> String { write.recordID?.description ?? write.provisionalKey() }

    private mutating func send() {
        let inFlight = Set(attempts.map(\.write.id))
        var lanes: Set<String> = []
        let sendable = pending.filter { lanes.insert(lane(of: $0)).inserted && !inFlight.contains($0.id) }
        guard let write = sendable.randomElement(using: &random) else { return }
        log.append("sent \(lane(of: write))")
        attempts.append(Attempt(write: write))
        view.apply(.sending(write.id, isRepeated: false))
    }

    private mutating func execute() {
        guard let index = attempts.indices.filter({ attempts[$0].answer == nil }).randomElement(using: &random) else {
            return
        }
        let write = attempts[index].write
        log.append("executed \(lane(of: write))")
        attempts[index].answer = Int.random(in: 0..<6, using: &random) == 0 ? .failure(Refused()) : change(write)
        if case .failure? = attempts[index].answer, let mark = write.data?["mark"]?.integer { refused.insert(mark) }
    }

    private mutating func answer() {
        guard let index = attempts.indices.filter({ attempts[$0].answer != nil }).randomElement(using: &random) else {
            return
        }
        let attempt = attempts.remove(at: index)
        pending.removeAll { $0.id == attempt.write.id }
        switch attempt.answer {
        case .success(let record)?:
            log.append("answered \(record)")
            view.apply(.executed(attempt.write.id, ServerResult(record, of: attempt.write, sentAs: RequestSender(nil))))
            guard attempt.write.method == .create, let id = record["id"].flatMap({ ServiceID($0) }) else { return }
            let provisional = ServiceID.string(attempt.write.provisionalKey())
            for index in pending.indices
            where pending[index].method != .create && pending[index].recordID == provisional {
                pending[index].recordID = id
                view.apply(.changed(pending[index], nil))
            }
        default:
            log.append("refused \(lane(of: attempt.write))")
            view.apply(.discarded(attempt.write.id))
        }
    }

    private mutating func foreignChange() {
        let id = nextID()
        let target = records.keys.sorted().randomElement(using: &random)
        let method: ServiceMethod =
            target == nil ? .create : [.create, .patch, .patch, .remove].randomElement(using: &random) ?? .patch
        let write = OutboxWrite(
            id: id, key: id, path: "records", method: method,
            recordID: method == .create ? nil : target.map { ServiceID($0) },
            data: .object(data()), query: Query(), route: [:], date: Date(), identity: nil, lane: "")
        log.append("foreign \(method) \(lane(of: write)) \(write.data ?? .null)")
        _ = change(write)
    }

    /// Executes a write on the server.
    private mutating func change(_ write: OutboxWrite) -> Result<JSONValue, Refused> {
        let data = write.data?.object ?? [:]
        var record: JSONObject
        var id: Int64
        if write.method == .create {
            lastID += 1
            (id, record) = (lastID, data)
            record["id"] = .integer(id)
            made[id] = write.provisionalKey()
        } else {
            guard let known = write.recordID.flatMap({ Int64($0.description) }), let old = records[known] else {
                return .failure(Refused())
            }
            (id, record) = (known, old)
            if write.method == .patch { for (name, value) in data { record[name] = value } }
        }
        records[id] = write.method == .remove ? nil : record
        takenCount += 1
        if let mark = data["mark"]?.integer { taken[mark] = takenCount }
        events.append(
            ServiceEvent(path: "records", name: EventName(endOf: write.method) ?? .patched, data: .object(record)))
        return .success(.object(record))
    }

    private mutating func hear(_ count: Int) {
        for event in events.prefix(count) {
            log.append("heard \(event.name) \(event.data)")
            view.received(event)
        }
        events.removeFirst(min(count, events.count))
    }

    private mutating func lose() {
        log.append("lost \(events.count)")
        events = []
        view.missedEvents()
    }

    private mutating func beginFetch() {
        guard fetch == nil else { return }
        let began = view.fetchBegan()
        log.append("fetching")
        fetch = Fetch(query: began.request, asked: began.asked, tick: began.tick)
    }

    private mutating func executeFetch() {
        guard fetch != nil, fetch?.response == nil, let query = fetch?.query else { return }
        log.append("fetch executed")
        let response = find(query)
        fetch?.response = response
    }

    private mutating func endFetch() throws {
        guard let ended = fetch, let response = ended.response else { return }
        fetch = nil
        log.append("fetched")
        try view.fetched(Page(data: response), asked: ended.asked, at: ended.tick)
    }

    private func find(_ query: Query<JSONValue>) -> [JSONValue] {
        var conditions = query
        // An operator that only the server knows.
        let kind = conditions.json.removeValue(forKey: "$search")
        guard let matcher = try? QueryMatcher(conditions) else { return [] }
        var found = records.sorted { $0.key < $1.key }.map { JSONValue.object($0.value) }.filter(matcher.matches)
        if let kind { found.removeAll { $0["kind"] != kind } }
        if let sorter = try? QuerySorter(query) { found = sorter.sorted(found) }
        func count(_ name: String) -> Int? { query.json[name]?.integer.map { Int($0) } }
        return Array(found.dropFirst(count("$skip") ?? 0).prefix(count("$limit") ?? .max))
    }

    /// Everything comes to rest: nothing is queued, in flight, or needs a fetch.
    private mutating func rest() throws {
        for _ in 0..<10_000 where !pending.isEmpty || !events.isEmpty || fetch != nil || view.needsFetch {
            send()
            execute()
            answer()
            hear(1)
            if view.needsFetch { beginFetch() }
            executeFetch()
            try endFetch()
            look()
        }
        let expected = find(query)
        let shown = view.visible.map(\.record)
        if shown != expected { violate("at rest \(shown) is shown rather than \(expected)") }
        if view.visible.contains(where: { $0.state != .confirmed }) || !view.writes.isEmpty {
            violate("at rest \(view.writes.map(\.write.method)) are pending")
        }
    }

    // MARK: The laws

    private mutating func violate(_ law: String) { violations.append("\(law): \(log.joined(separator: "; "))") }

    private mutating func look() {
        checkOracle()
        checkMonotonic()
    }

    /// The view is the base with the pending writes applied one by one.
    private mutating func checkOracle() {
        guard view.base.isComplete, view.base.plan.skip == 0, let matcher = try? QueryMatcher(query) else { return }
        var expected: [(key: String, record: JSONValue)] = view.base.entries.map { ($0.key, $0.record) }
        var seen = Set(expected.map(\.key))
        // Executed writes come before pending ones, but new records are in the order of the queue.
        var numbers: [String: Int] = [:]
        for write in view.writes {
            for key in write.keys {
                numbers[key] = numbers[key] ?? (view.base[key] == nil ? write.number : 0)
                let index = expected.firstIndex { $0.key == key }
                // The first write to a record that the base lacks finds it outside of the result.
                let before = seen.insert(key).inserted ? view.outside(key) : index.map { expected[$0].record }
                let record = write.apply(to: before, key: key, id: "id")
                if let index, let record {
                    expected[index].record = record
                } else if let index {
                    expected.remove(at: index)
                } else if let record {
                    expected.append((key, record))
                }
            }
        }
        expected.sort { numbers[$0.key, default: 0] < numbers[$1.key, default: 0] }
        var result = expected.map(\.record).filter(matcher.matches)
        if let sorter = view.base.plan.sorter { result = sorter.sorted(result) }
        let shown = view.visible.map(\.record)
        if shown != Array(result.prefix(view.base.limit)) { violate("\(shown) is shown rather than \(result)") }
        let own = Set(view.writes.filter { $0.results == nil }.flatMap(\.keys))
        for entry in view.visible where (entry.state == .pending) != own.contains(entry.key) {
            violate("the state of \(entry.key) is \(entry.state)")
        }
    }

    /// A row that shows a write of this client never goes back to what was there before, unless the write was refused.
    private mutating func checkMonotonic() {
        var keys: Set<String> = []
        for entry in view.visible {
            let key = view.aliases[entry.key] ?? entry.key
            if !keys.insert(key).inserted { violate("the record \(key) is shown twice") }
            guard let mark = entry.record["mark"]?.integer else { continue }
            defer { lastShown[key] = mark }
            guard let last = lastShown[key], last != mark, own.contains(last), !refused.contains(last) else { continue }
            // A pending write comes after everything that the server has taken.
            let (before, now) = (taken[last] ?? .max, taken[mark] ?? .max)
            if now < before { violate("the record \(key) goes back from \(last) to \(mark)") }
        }
    }
}
