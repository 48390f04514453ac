import FeathersCore
import FeathersJSON
import FeathersSupport
import FeathersTesting

/// A server with messages whose changes have a precise time, of which JSON shows milliseconds.
final class ReplicaServer: Sendable {
    /// What the server does when a record is removed.
    enum Removing: Sendable, CaseIterable {
        case forgets, marks, logs
    }

    struct State: Sendable {
        /// The records, with times in microseconds.
        var records: [Int64: JSONObject] = [:]
        var deletions: [JSONObject] = []
        var now: Int64 = 1_790_000_000_000_000
        var lastID: Int64 = 0
        var requests: [Query<JSONValue>] = []
        /// The records that nobody may see any more.
        var hidden: Set<Int64> = []
    }

    let removing: Removing
    let page: Int
    let state = Locked(State())
    let isOnline = Locked(true)
    /// The number of requests after which the server cannot be reached.
    let requestLimit = Locked(Int.max)
    /// Whether conditions on times find nothing, as if the database compared text with dates.
    let comparesText = Locked(false)
    /// Whether changes reach the app as events.
    let sendsEvents = Locked(true)
    let transport: StubRealTimeTransport

    init(_ removing: Removing = .marks, page: Int = 1_000) {
        (self.removing, self.page) = (removing, page)
        let own = Locked<(@Sendable (ServiceRequest) throws -> JSONValue)?>(nil)
        transport = StubRealTimeTransport(
            passingThrough: StubTransport { request in try own.withLock(\.self)?(request) ?? .null },
            pushesEvents: false)
        own.withLock { $0 = { [weak self] request in try self?.respond(to: request) ?? .null } }
    }

    // MARK: Changes

    /// Lets time pass, in microseconds.
    func pass(_ time: Int64) { state.withLock { $0.now += time } }

    /// Changes a record.
    /// - Parameter lateness: How much earlier than now the change is said to be, in microseconds.
    @discardableResult
    func put(_ id: Int64? = nil, _ data: JSONObject, lateness: Int64 = 0) -> Int64 {
        let (event, id) = state.withLock { state -> (ServiceEvent, Int64) in
            state.now += 7
            if id == nil { state.lastID += 1 }
            let id = id ?? state.lastID
            let isNew = state.records[id] == nil
            var record = state.records[id] ?? [:]
            for (name, value) in data { record[name] = value }
            (record["id"], record["updatedAt"]) = (.integer(id), .integer(state.now - lateness))
            state.records[id] = record
            return (self.event(isNew ? .created : .patched, record), id)
        }
        emit(event, of: id)
        return id
    }

    func remove(_ id: Int64) {
        if removing == .marks { return _ = put(id, ["deletedAt": "2026-01-01T00:00:00.000Z"]) }
        let event = state.withLock { state -> ServiceEvent? in
            guard let record = state.records.removeValue(forKey: id) else { return nil }
            state.now += 7
            if removing == .logs {
                state.deletions.append([
                    "id": .integer(Int64(state.deletions.count + 1)), "recordId": .integer(id),
                    "createdAt": .integer(state.now),
                ])
            }
            return self.event(.removed, record)
        }
        if let event { emit(event, of: id) }
    }

    private func event(_ name: EventName, _ record: JSONObject) -> ServiceEvent {
        ServiceEvent(path: "messages", name: name, data: Self.shown(record))
    }

    private func emit(_ event: ServiceEvent, of id: Int64) {
        let isSeen = !state.withLock { $0.hidden.contains(id) }
        if isSeen, sendsEvents.withLock(\.self), isOnline.withLock(\.self) { transport.emit(event) }
    }

    // MARK: Requests

    /// Returns what a plain `find` shows, all pages together.
    func all(_ query: Query<JSONValue> = Query()) -> [JSONValue] { (try? found(query)) ?? [] }

    var requests: [Query<JSONValue>] { state.withLock { $0.requests } }
    func forgetRequests() { state.withLock { $0.requests = [] } }

    private func found(_ query: Query<JSONValue>, in path: String = "messages") throws -> [JSONValue] {
        var precise = query
        for name in ["updatedAt", "createdAt"] {
            precise.json[name] = query.json[name].map { Self.precise($0) }
        }
        if removing == .marks, query.json["updatedAt"] == nil, path == "messages" { precise.json["deletedAt"] = .null }
        let records = state.withLock { state in
            path == "deletions"
                ? state.deletions
                : state.records.filter { !state.hidden.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value)
        }
        if comparesText.withLock(\.self), query.json["updatedAt"] != nil { return [] }
        let matcher = try QueryMatcher(precise)
        var found = records.map { JSONValue.object($0) }.filter(matcher.matches)
        if let sorter = try QuerySorter(precise) { found = sorter.sorted(found) }
        return found.map { Self.shown($0.object ?? [:]) }
    }

    private func respond(to request: ServiceRequest) throws -> JSONValue {
        guard isOnline.withLock(\.self), state.withLock(\.requests.count) < requestLimit.withLock(\.self) else {
            throw FeathersError(.unavailable, "The server cannot be reached", execution: .neverSent)
        }
        state.withLock { $0.requests.append(request.params.query) }
        let data = request.data?.object ?? [:]
        let id = request.id.flatMap { Int64($0.description) }
        switch request.method {
        case .create: return shown(put(nil, data))
        case .patch, .update:
            guard let id, all(["id": .integer(id)]).count == 1 else { throw FeathersError(.notFound, "No record") }
            return shown(put(id, data))
        case .remove:
            guard let id, let record = all(["id": .integer(id)]).first else { throw FeathersError(.notFound, "None") }
            remove(id)
            return record
        case .get:
            guard let id, let record = all(["id": .integer(id)]).first else { throw FeathersError(.notFound, "None") }
            return record
        default: break
        }
        let query = request.params.query
        let found = try found(query, in: request.path)
        let limit = min(query.json["$limit"]?.integer.map { Int($0) } ?? page, page)
        let skip = query.json["$skip"]?.integer.map { Int($0) } ?? 0
        var records = Array(found.dropFirst(skip).prefix(limit))
        if let selection = try QuerySelection(query, keeping: "id") { records = records.map { selection($0) } }
        return [
            "total": .integer(Int64(found.count)), "limit": .integer(Int64(limit)), "skip": .integer(Int64(skip)),
            "data": .array(records),
        ]
    }

    private func shown(_ id: Int64) -> JSONValue { Self.shown(state.withLock { $0.records[id] } ?? [:]) }

    /// Returns a record as JSON has it.
    private static func shown(_ record: JSONObject) -> JSONValue {
        var record = record
        for name in ["updatedAt", "createdAt"] {
            guard let time = record[name]?.integer else { continue }
            record[name] = ISO8601Timestamp(milliseconds: Double(time / 1_000)).text().map { .string($0) }
        }
        return .object(record)
    }

    /// Returns a condition with times in microseconds.
    private static func precise(_ condition: JSONValue) -> JSONValue {
        switch condition {
        case .string(let text):
            ISO8601Timestamp(text).map { .integer(Int64($0.milliseconds) * 1_000) } ?? condition
        case .object(let object): .object(JSONObject(object.map { ($0.key, precise($0.value)) }))
        default: condition
        }
    }
}
