import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersTesting

/// A FeathersJS server in miniature: users, tokens, records that belong to users, events for those who may see them.
///
/// Every record it sends is marked with the user it was sent to (`told`), so that tests see at a glance whose answer
/// they hold. Writes carry a claim in their query: who the app says wrote them. The server compares it with the user it
/// knows.
final class ModelServer: Sendable {
    /// Where a request comes from: over HTTP, or over one connection of a line.
    enum Source: Hashable, Sendable {
        case http
        case line(Int, link: Int)
    }

    struct Arrival: Sendable {
        let path: String
        let method: ServiceMethod
        /// Whom the server takes the sender for; nil for no one.
        let user: String?
        let claim: String?
        /// By which a test finds its own request.
        let mark: Int64?
        /// Whether it came with a token that has ended.
        let isStale: Bool
    }

    struct State: Sendable {
        /// By the numbers in whose order they were created.
        var records: [String: [Int64: JSONObject]] = [:]
        var lastID: Int64 = 0
        /// Whether the ids of new records are text.
        var hasTextIDs = false
        /// How it is reached over HTTP; nil if that is only called so.
        var web: ModelWeb?
        /// The users of the tokens that are valid.
        var tokens: [String: String] = [:]
        var refreshTokens: [String: String] = [:]
        /// The token of each connection that is signed in.
        var sessions: [Source: String] = [:]
        /// Whether nothing comes through over HTTP.
        var isAway = false
        var arrivals: [Arrival] = []
        /// Answers that are held back until the promise is resolved, by `path.method`.
        var holds: [String: Promise<Void>] = [:]
        /// Answers to writes, by the key under which they may come again.
        var answered: [String: JSONValue] = [:]
        var lines: [Int: Line] = [:]
        /// The open event streams, and how many have been opened.
        var streams: [Int: Stream] = [:]
        var opened = 0
        var issued = 0
        /// How often tokens were to be refreshed.
        var refreshed = 0
    }

    /// A line to an app. The app's transport holds the server, so it is not held here.
    struct Line: Sendable {
        weak var transport: StubRealTimeTransport?
    }

    static let users = ["alice", "bob", "carol"]
    /// Services that only answer signed-in users, each with their own records.
    static let protected: Set<String> = ["notes", "feed"]

    let state = ObservedState(State())
    /// Held from a change until its events are pushed, so that they are pushed in the order of the changes.
    let turn = NSLock()

    var arrivals: [Arrival] { state.current.arrivals }

    func arrivals(at path: String, _ method: ServiceMethod) -> [Arrival] {
        arrivals.filter { $0.path == path && $0.method == method }
    }

    func waitForArrivals(at path: String, _ method: ServiceMethod, _ count: Int = 1) async throws {
        try await state.wait { state in state.arrivals.count { $0.path == path && $0.method == method } >= count }
    }

    // MARK: What others do

    /// Holds back the answers of a method. Requests are executed when they arrive all the same.
    @discardableResult
    func hold(_ path: String, _ method: ServiceMethod) -> Promise<Void> {
        state.update { state in
            let promise = Promise<Void>()
            state.holds["\(path).\(method)"] = promise
            return promise
        }
    }

    func release(_ path: String, _ method: ServiceMethod) {
        state.update { $0.holds.removeValue(forKey: "\(path).\(method)") }?.resolve(())
    }

    /// Ends a user's access tokens, and the refresh tokens too unless they can be refreshed.
    func endTokens(of user: String, refreshable: Bool) {
        state.update { state in
            state.tokens = state.tokens.filter { $0.value != user }
            if !refreshable { state.refreshTokens = state.refreshTokens.filter { $0.value != user } }
        }
    }

    func issueToken(to user: String) -> String { state.update { Self.issueToken(to: user, &$0) } }

    /// Something that another client does.
    @discardableResult
    func change(
        _ path: String, _ method: ServiceMethod, id: ServiceID? = nil, _ data: JSONValue = .null, as user: String?
    ) -> JSONValue? {
        let request = ServiceRequest(path: path, method: method, id: id, data: data)
        return turn.withLock {
            let (result, event) = state.update { state in Self.execute(request, as: user, &state) }
            if let event { push(event) }
            return try? result.get()
        }
    }

    /// What `find` answers to a user now.
    func records(of path: String, _ query: Query<JSONValue>, told user: String?) -> [JSONValue] {
        (try? Self.find(path, query, told: user, state.current)) ?? []
    }

    /// Whom the server takes a connection for; nil for no one.
    func user(of connection: StubRealTimeTransport?) -> String? {
        guard let connection, let link = connection.connection.line.current.link else { return nil }
        let state = state.current
        return state.lines.first { $0.value.transport === connection }.flatMap {
            state.user(of: .line($0.key, link: link))
        }
    }

    // MARK: Requests

    /// Executes a request at once.
    /// - Returns: the answer, and what it waits for on its way back.
    func answer(_ request: ServiceRequest, from source: Source) -> (
        result: Result<JSONValue, FeathersError>, hold: Promise<Void>?
    ) {
        turn.withLock {
            let (result, events, hold) = state.update { state in
                let hold = state.holds["\(request.path).\(request.method)"]
                var events: [Event] = []
                let result = Self.receive(request, from: source, &state, &events)
                return (result, events, hold)
            }
            for event in events { push(event) }
            return (result, hold)
        }
    }

    /// An event, and whose record it is about; nil for everyone's.
    struct Event: Sendable {
        let path: String
        let name: EventName
        let record: JSONObject
    }

    private func push(_ event: Event) {
        sendToStreams(event)
        let owner = ModelServer.protected.contains(event.path) ? event.record["owner"]?.string : nil
        for (number, line) in state.current.lines {
            guard let transport = line.transport else { continue }
            let current = transport.connection.line.current
            // What a connection missed is kept for the user that it had.
            guard let link = current.link ?? (current.linkCount > 0 ? current.linkCount : nil) else { continue }
            let user = state.current.user(of: .line(number, link: link))
            if owner != nil, owner != user { continue }
            let told = ServiceEvent(path: event.path, name: event.name, data: Self.told(event.record, to: user))
            transport.connection.emit(told, over: link)
        }
    }
}

extension ModelServer.State {
    /// The number of a record.
    fileprivate func number(of id: ServiceID?, at path: String) -> Int64? {
        records[path]?.first { $0.value["id"].flatMap { ServiceID($0) }?.description == id?.description }?.key
    }

    fileprivate func user(of source: ModelServer.Source) -> String? { sessions[source].flatMap { tokens[$0] } }
}

// MARK: - Executing

extension ModelServer {
    private static func receive(
        _ request: ServiceRequest, from source: Source, _ state: inout State, _ events: inout [Event]
    ) -> Result<JSONValue, FeathersError> {
        switch request.path {
        case "authentication": return authenticate(request, from: source, &state)
        case "refresh-tokens": return refresh(request, &state)
        default: break
        }
        let token =
            switch source {
            case .http: request.params.headers["Authorization"].map { String($0.dropFirst("Bearer ".count)) }
            case .line: state.sessions[source]
            }
        let user = token.flatMap { state.tokens[$0] }
        state.arrivals.append(
            Arrival(
                path: request.path, method: request.method, user: user,
                claim: request.params.query.json["claim"]?.string,
                mark: request.params.query.json["mark"]?.integer,
                isStale: token != nil && user == nil))
        if user == nil, protected.contains(request.path) {
            return .failure(FeathersError(.notAuthenticated, "Not authenticated"))
        }
        let key = request.params.query.json["key"]?.string
        if let key, let answer = state.answered[key] { return .success(answer) }
        let (result, event) = execute(request, as: user, &state)
        if let event { events.append(event) }
        if let key, let answer = try? result.get() { state.answered[key] = answer }
        return result
    }

    private static func authenticate(_ request: ServiceRequest, from source: Source, _ state: inout State) -> Result<
        JSONValue, FeathersError
    > {
        guard request.method == .create else {
            state.sessions[source] = nil
            return .success(["accessToken": "removed"])
        }
        let data = request.data ?? .null
        let user: String
        let token: String
        if data["strategy"] == "jwt" {
            guard let given = data["accessToken"]?.string, let known = state.tokens[given] else {
                return .failure(FeathersError(.notAuthenticated, "jwt expired"))
            }
            (user, token) = (known, given)
        } else {
            guard let email = data["email"]?.string, data["password"]?.string == "secret of \(email)" else {
                return .failure(FeathersError(.notAuthenticated, "Invalid login"))
            }
            (user, token) = (email, issueToken(to: email, &state))
        }
        if case .line = source { state.sessions[source] = token }
        var answer: JSONObject = ["accessToken": .string(token), "user": ["id": .string(user)]]
        if data["strategy"] != "jwt" { answer["refreshToken"] = .string(issueRefreshToken(to: user, &state)) }
        return .success(.object(answer))
    }

    private static func refresh(_ request: ServiceRequest, _ state: inout State) -> Result<JSONValue, FeathersError> {
        state.refreshed += 1
        guard let given = request.data?["refreshToken"]?.string,
            let user = state.refreshTokens.removeValue(forKey: given)
        else {
            return .failure(FeathersError(.notAuthenticated, "invalid refresh token"))
        }
        return .success(
            [
                "accessToken": .string(issueToken(to: user, &state)),
                "refreshToken": .string(issueRefreshToken(to: user, &state)),
            ])
    }

    private static func issueToken(to user: String, _ state: inout State) -> String {
        state.issued += 1
        let token = ModelToken.make(["sub": .string(user), "jti": .integer(Int64(state.issued))])
        state.tokens[token] = user
        return token
    }

    private static func issueRefreshToken(to user: String, _ state: inout State) -> String {
        state.issued += 1
        state.refreshTokens["refresh-\(state.issued)"] = user
        return "refresh-\(state.issued)"
    }

    private static func execute(
        _ request: ServiceRequest, as user: String?, _ state: inout State
    ) -> (Result<JSONValue, FeathersError>, Event?) {
        let path = request.path
        let mayChange: (JSONObject) -> Bool = { !protected.contains(path) || $0["owner"]?.string == user }
        var event: Event?
        let result = Result<JSONValue, any Error> {
            switch request.method {
            case .find: return .array(try find(path, request.params.query, told: user, state))
            case .create:
                var record = request.data?.object ?? [:]
                if let id = record["id"], state.number(of: ServiceID(id), at: path) != nil {
                    throw FeathersError(.conflict, "The id is taken")
                }
                state.lastID += 1
                record["id"] = record["id"] ?? (state.hasTextIDs ? .string("r\(state.lastID)") : .integer(state.lastID))
                record["owner"] = .string(user ?? "nobody")
                state.records[path, default: [:]][state.lastID] = record
                event = Event(path: path, name: .created, record: record)
                return told(record, to: user)
            default: break
            }
            guard let id = state.number(of: request.id, at: path), var record = state.records[path]?[id],
                mayChange(record)
            else { throw FeathersError(.notFound, "No record found for id '\(request.id?.description ?? "")'") }
            switch request.method {
            case .get: break
            case .remove:
                state.records[path]?[id] = nil
                event = Event(path: path, name: .removed, record: record)
            default:
                for (key, value) in request.data?.object ?? [:] where key != "id" && key != "owner" {
                    record[key] = value
                }
                state.records[path]?[id] = record
                event = Event(path: path, name: .patched, record: record)
            }
            return told(record, to: user)
        }
        return (result.mapError { ($0 as? FeathersError) ?? FeathersError(.generalError, "\($0)") }, event)
    }

    private static func find(_ path: String, _ query: Query<JSONValue>, told user: String?, _ state: State) throws
        -> [JSONValue]
    {
        let matcher = try QueryMatcher(query)
        let visible = (state.records[path] ?? [:]).sorted { $0.key < $1.key }.map(\.value).filter {
            !protected.contains(path) || $0["owner"]?.string == user
        }
        var found = visible.map { told($0, to: user) }.filter(matcher.matches)
        if let sorter = try QuerySorter(query) { found = sorter.sorted(found) }
        found.removeFirst(min(query.json["$skip"]?.integer.map { Int($0) } ?? 0, found.count))
        if let limit = query.json["$limit"]?.integer { found = Array(found.prefix(Int(limit))) }
        return found
    }

    static func told(_ record: JSONObject, to user: String?) -> JSONValue {
        var record = record
        record["told"] = .string(user ?? "nobody")
        return .object(record)
    }
}
