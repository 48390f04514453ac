public import Foundation

/// A server that attacks its clients in one way, until it relents: see `Tests/Support/Backend/backend/hostile.py`, the table of
/// the ways, and `hostile_server.py`.
public struct HostileServer: Sendable {
    /// A row of the table.
    public struct Behavior: Decodable, Sendable {
        public let name: String
        /// `http`, `https`, `events`, `socketio`, `websocket` or `polling`.
        public let `protocol`: String
        public let outcome: Outcome
        /// Whether only the client's own deadline ends it.
        public let stalls: Bool
    }

    /// What a read of record 7 may come to.
    public enum Outcome: String, Decodable, Sendable {
        case fails
        /// The right record.
        case answers
        /// JSON null.
        case null
        /// An error or the right record.
        case either
    }

    /// What has come in. Connections are those over TCP.
    public struct Counters: Decodable, Sendable {
        public let connections: Int
        public let open: Int
        public let requests: Int
        /// How many tokens were refreshed.
        public let refreshes: Int
        /// How many bytes the last answer had that was cut.
        public let length: Int
        /// How many calls of hostile lists there were.
        public let calls: Int
        /// How many of them had operators of a record in their query.
        public let smuggled: Int
        let complete: Bool
    }

    /// What was waited for did not happen; this did.
    public struct Waited: Error {
        public let counters: Counters
    }

    /// `http://127.0.0.1:PORT/KEY`, or an https URL if the behavior needs that; Socket.IO is at `/KEY/socket.io/`.
    public let url: URL
    private let control: URL
    private let padding: Int

    /// The rows of the table.
    public static func behaviors(on backend: TestBackend) async throws -> [Behavior] {
        let table = try await backend.scriptServer().appending(path: "__hostile")
        return try JSONDecoder().decode(Table.self, from: await TestControl.get(table)).behaviors
    }

    /// - Parameters:
    ///   - behavior: the name of a row, or of one of the special ones.
    ///   - count: how many packets a flood has.
    ///   - padding: how many bytes are added to the right answers.
    public init(_ behavior: String, count: Int = 0, padding: Int = 0, on backend: TestBackend) async throws {
        control = try await backend.scriptServer().appending(path: "__hostile/\(UUID().uuidString.lowercased())")
        self.padding = padding
        url = try await Self.begin(Settings(behavior: behavior, count: count, padding: padding), control)
    }

    /// Behaves from now on. Sessions that stand go on as they began.
    public func relent() async throws {
        _ = try await Self.begin(Settings(behavior: "healthy", count: 0, padding: padding), control)
    }

    public func counters() async throws -> Counters {
        try JSONDecoder().decode(Counters.self, from: await TestControl.get(control))
    }

    /// What has come in, once exactly so many connections stand.
    /// - Throws: ``Waited`` when that has not come to pass within `timeoutMs` milliseconds.
    @discardableResult
    public func counters(open: Int, timeoutMs: Int = 10_000) async throws -> Counters {
        let wanted = [
            URLQueryItem(name: "open", value: "\(open)"), URLQueryItem(name: "timeoutMs", value: "\(timeoutMs)"),
        ]
        let counters = try JSONDecoder().decode(
            Counters.self, from: await TestControl.get(control.appending(queryItems: wanted)))
        guard counters.complete else { throw Waited(counters: counters) }
        return counters
    }

    private static func begin(_ settings: Settings, _ control: URL) async throws -> URL {
        try JSONDecoder().decode(Place.self, from: await TestControl.post(settings, to: control)).url
    }

    private struct Table: Decodable {
        let behaviors: [Behavior]
    }

    private struct Settings: Encodable {
        let behavior: String
        let count: Int
        let padding: Int
    }

    private struct Place: Decodable {
        let url: URL
    }
}
