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
    private let wire: RelationWire
    private let state = Locked(State())
    /// The only user who may see a text, for every text that was ever in a record of one user.
    let owners = Locked<[String: String]>([:])
    /// Why a service refuses to read.
    let refusals = Locked<[String: FeathersError]>([:])
    /// The requests that contain a number below zero or a UUID: provisional ids.
    let leaks = Locked<[String]>([])

    init(page: Int?, _ traits: Set<RelationTrait> = []) { (self.page, wire) = (page, RelationWire(traits: traits)) }

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
            for var event in events where Self.isVisible(event.data.object ?? [:], to: user) {
                event.data = wire.outward(event.data)
                transport.emit(event)
            }
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
            // No event tells of a change that JSON rounds away.
            if let old, wire.outward(.object(old))["at"] == wire.outward(.object(record))["at"] {
                record["at"] = old["at"]
            }
            record["id"] = id.map { .integer($0) }
            if let owner = record["for"]?.string {
                for case .string(let text) in ["text", "name", "title"].compactMap({ record[$0] }) {
                    owners.withLock { $0[text] = owner }
                }
            }
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
            let data = request.data.map(wire.inward)?.object ?? [:]
            let id = request.id.flatMap { Int64($0.description) }
            return wire.outward(try change(request.method, request.path, id, data, as: user))
        }
        if let refusal = refusals.withLock({ $0[request.path] }) { throw refusal }
        if let id = request.id {
            let found = try find(request.path, Query().where("id", id.json), as: user)
            guard let record = found.first else { throw FeathersError(.notFound, "No record") }
            return wire.outward(record)
        }
        let query = Query<JSONValue>(wire.inward(.object(request.params.query.json)).object ?? [:])
        let found = try find(request.path, query, as: user)
        let asked = query.json["$limit"]?.integer.map { Int($0) }
        let skip = query.json["$skip"]?.integer.map { Int($0) } ?? 0
        let limit = page.map { min(asked ?? $0, $0) }
        let data = JSONValue.array(found.dropFirst(skip).prefix(limit ?? asked ?? .max).map(wire.outward))
        var result = data
        if let limit {
            result = [
                "total": .integer(Int64(found.count)), "limit": .integer(Int64(limit)),
                "skip": .integer(Int64(skip)), "data": data,
            ]
        }
        return wire.traits.contains(.rootKeys) && request.path == "users"
            ? ["status": "ok", "data": ["users": result]] : result
    }

    /// Returns what the messages show to a user, by plain `find`s; nil for a message that does not decode.
    func graph(as user: String) throws -> [RelationHistory.Shown?] {
        // What does not decode is missing.
        func table(_ path: String, _ text: String) throws -> [Int64: JSONValue] {
            let records = try find(path, as: user).filter { $0[text]?.string != nil }
            return Dictionary(uniqueKeysWithValues: records.map { ($0["id"]?.integer ?? 0, $0) })
        }
        let (users, teams) = (try table("users", "name"), try table("teams", "title"))
        let reactions = try find("reactions", .sorted(by: "emoji").sorted(by: "id"), as: user)
        func shown(_ reactions: some Sequence<JSONValue>) -> [String] {
            reactions.compactMap { reaction in
                let by = reaction["userID"]?.integer.flatMap { users[$0] }
                return reaction["emoji"]?.string.map { "\($0) \(by?["name"]?.string ?? "nil")" }
            }
        }
        let hasParts = wire.traits.contains(.parts)
        return try find("messages", .sorted(by: order).sorted(by: "id"), as: user).map { message in
            guard let text = message["text"]?.string else { return nil }
            let author = message["authorID"]?.integer.flatMap { users[$0] }
            let own = reactions.filter { $0["messageID"] == message["id"] }
            return RelationHistory.Shown(
                text: text, author: author?["name"]?.string,
                team: author?["teamID"]?.integer.flatMap { teams[$0] }?["title"]?.string,
                reactions: shown(own),
                readers: (message["readers"]?.array ?? []).compactMap { id in
                    id.integer.flatMap { users[$0] }?["name"]?.string
                }, latest: hasParts ? shown(own.suffix(2).reversed()) : [],
                count: hasParts && counts ? own.count { $0["emoji"] == "a" } : nil)
        }
    }

    /// Whether the results have a total.
    var counts: Bool { page != nil }

    /// The property by which the list is sorted.
    var order: String { wire.traits.contains(.precise) ? "at" : "id" }
}
