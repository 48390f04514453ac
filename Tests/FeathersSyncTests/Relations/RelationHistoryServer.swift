import FeathersCore
import FeathersSupport
import FeathersTesting

@testable import FeathersSync

/// The server of a history of related records: four services whose records are visible to one user or to all.
final class RelationHistoryServer: Sendable {
    static let paths = ["messages", "users", "teams", "reactions"]

    private struct State: Sendable {
        var records: [String: [Int64: JSONObject]] = [:]
        var lastID: Int64 = 100
        /// The events that have not been sent, in the order of the changes.
        var events: [ServiceEvent] = []
    }

    /// The maximum number of records on a page; nil if the server does not paginate.
    let page: Int?
    private let state = Locked(State())
    /// The requests that contain a number below zero or a UUID: provisional ids.
    let leaks = Locked<[String]>([])

    init(page: Int?) { self.page = page }

    /// Held while events are sent, so that they keep their order.
    private let sending = Locked(LockTurn())

    /// Sends the events that the user may see who is signed in by now.
    func sendEvents(over transport: StubRealTimeTransport, as user: () -> String) {
        sending.withLock { _ in
            let user = user()
            let events = state.withLock { state in
                defer { state.events = [] }
                return state.events
            }
            for event in events where Self.isVisible(event.data.object ?? [:], to: user) { transport.emit(event) }
        }
    }

    /// Forgets the events that have not been sent, like a connection that has ended.
    func loseEvents() { state.withLock { $0.events = [] } }

    /// Returns the ids of the records that a user sees.
    func ids(_ path: String, as user: String) -> [Int64] {
        state.withLock { $0.records[path, default: [:]].filter { Self.isVisible($0.value, to: user) }.keys.sorted() }
    }

    func has(_ path: String, _ id: Int64) -> Bool { state.withLock { $0.records[path]?[id] != nil } }

    static func isVisible(_ record: JSONObject, to user: String) -> Bool {
        record["for"] == nil || record["for"]?.string == user
    }

    /// Returns the result of a plain `find`, all pages together.
    func find(_ path: String, _ query: Query<JSONValue> = Query(), as user: String) throws -> [JSONValue] {
        let all = state.withLock { $0.records[path, default: [:]] }
        let matcher = try QueryMatcher(query)
        var found = all.sorted { $0.key < $1.key }.map(\.value).filter { Self.isVisible($0, to: user) }
            .map { JSONValue.object($0) }.filter(matcher.matches)
        if let sorter = try QuerySorter(query) { found = sorter.sorted(found) }
        return found
    }

    /// Changes a record, and returns it.
    @discardableResult
    func change(_ method: ServiceMethod, _ path: String, _ id: Int64?, _ data: JSONObject, as user: String) throws
        -> JSONValue
    {
        try state.withLock { state in
            var id = id ?? data["id"]?.integer
            let old = id.flatMap { state.records[path]?[$0] }
            if method != .create, !(old.map { Self.isVisible($0, to: user) } ?? false) {
                throw FeathersError(.notFound, "No record")
            }
            if method == .create, old != nil { throw FeathersError(.conflict, "The record exists") }
            if id == nil { state.lastID += 1 }
            id = id ?? state.lastID
            var record = old ?? [:]
            for (name, value) in data { record[name] = value }
            record["id"] = id.map { .integer($0) }
            if let id { state.records[path, default: [:]][id] = method == .remove ? nil : record }
            let name = EventName(endOf: method) ?? .patched
            state.events.append(ServiceEvent(path: path, name: name, data: .object(record)))
            return .object(record)
        }
    }

    /// Responds to a request of an app.
    func respond(to request: ServiceRequest, as user: String) throws -> JSONValue {
        let text = "\(request.params.query.json) \(request.data ?? .null) \(request.id?.description ?? "")"
        let isLeak = text.contains(/-[0-9]{6}|[0-9a-f]{8}-[0-9a-f]{4}/)
        if isLeak { leaks.withLock { $0.append("\(request.method) \(request.path) \(text)") } }
        guard request.method == .find || request.method == .get else {
            return try change(
                request.method, request.path, request.id.flatMap { Int64($0.description) }, request.data?.object ?? [:],
                as: user)
        }
        if let id = request.id {
            let found = try find(request.path, Query().where("id", id.json), as: user)
            guard let record = found.first else { throw FeathersError(.notFound, "No record") }
            return record
        }
        let found = try find(request.path, request.params.query, as: user)
        let asked = request.params.query.json["$limit"]?.integer.map { Int($0) }
        guard let page else { return .array(Array(found.prefix(asked ?? .max))) }
        let limit = min(asked ?? page, page)
        return [
            "total": .integer(Int64(found.count)), "limit": .integer(Int64(limit)), "skip": 0,
            "data": .array(Array(found.prefix(limit))),
        ]
    }

    /// Returns what the messages show to a user, by plain `find`s.
    func graph(as user: String) throws -> [RelationHistory.Shown] {
        func table(_ path: String) throws -> [Int64: JSONValue] {
            let records = try find(path, as: user)
            return Dictionary(uniqueKeysWithValues: records.map { ($0["id"]?.integer ?? 0, $0) })
        }
        let (users, teams) = (try table("users"), try table("teams"))
        let reactions = try find("reactions", .sorted(by: "emoji").sorted(by: "id"), as: user)
        let messages = try find("messages", as: user).prefix(page ?? .max)
        return messages.map { message in
            let author = message["authorID"]?.integer.flatMap { users[$0] }
            return RelationHistory.Shown(
                text: message["text"]?.string ?? "", author: author?["name"]?.string,
                team: author?["teamID"]?.integer.flatMap { teams[$0] }?["title"]?.string,
                reactions: reactions.filter { $0["messageID"] == message["id"] }.map { reaction in
                    let by = reaction["userID"]?.integer.flatMap { users[$0] }
                    return "\(reaction["emoji"]?.string ?? "") \(by?["name"]?.string ?? "nil")"
                },
                readers: (message["readers"]?.array ?? []).compactMap { id in
                    id.integer.flatMap { users[$0] }?["name"]?.string
                })
        }
    }
}
