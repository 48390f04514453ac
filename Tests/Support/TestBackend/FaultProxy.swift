public import Foundation

/// A TCP proxy that does to connections what networks do: see `Tests/Support/Backend/backend/faults.py`.
///
/// It lives in the test backend's process, also where the server it leads to does not. Every command has
/// happened when its function returns.
public struct FaultProxy: Sendable {
    public enum Direction: String, Encodable, Sendable { case toServer, toClient }

    /// The way to the server through the proxy.
    public let url: URL
    private let control: URL

    /// - Parameters:
    ///   - url: the server; only its host and port count to the proxy.
    ///   - plan: what happens from the first connection on.
    ///   - seed: what every chance comes from.
    ///   - isSecure: whether clients speak TLS; the certificate is ``SecureScriptServer/certificate``.
    ///   - receiveBuffer: how many bytes the system takes in before the proxy reads them.
    public init(
        to url: URL, plan: FaultPlan = FaultPlan(), seed: UInt64 = 1, isSecure: Bool = false, receiveBuffer: Int? = nil
    ) async throws {
        guard var address = URLComponents(url: url, resolvingAgainstBaseURL: false), let host = address.host,
            let port = address.port
        else {
            throw URLError(.badURL)
        }
        let settings = Settings(
            target: "\(host):\(port)", seed: seed, plan: plan, tls: isSecure, receiveBuffer: receiveBuffer)
        address.scheme = isSecure ? "https" : "http"
        address.host = isSecure ? "localhost" : "127.0.0.1"
        try await self.init(settings, &address)
    }

    /// A balancer: each connection goes to the next of the servers that takes it.
    public static func balancing(_ urls: [URL]) async throws -> FaultProxy {
        var address = URLComponents()
        (address.scheme, address.host) = ("http", "127.0.0.1")
        let targets = urls.map { "\($0.host() ?? ""):\($0.port ?? 80)" }
        return try await FaultProxy(Settings(targets: targets, seed: 1, plan: FaultPlan(), tls: false), &address)
    }

    /// An HTTP proxy, which leads where `CONNECT` says.
    /// - Parameter credentials: `name:password`, without which nobody is led anywhere; nil for everybody.
    public static func tunnel(credentials: String? = nil) async throws -> FaultProxy {
        var address = URLComponents()
        (address.scheme, address.host) = ("http", "127.0.0.1")
        let settings = Settings(seed: 1, plan: FaultPlan(), tls: false, tunnel: true, credentials: credentials)
        return try await FaultProxy(settings, &address)
    }

    private init(_ settings: Settings, _ address: inout URLComponents) async throws {
        let root = try await TestBackend.scriptServer().appending(path: "__proxy")
        let created = try await Self.post(settings, to: root, as: Created.self)
        address.port = created.port
        guard let url = address.url else { throw URLError(.badURL) }
        self.url = url
        control = root.appending(path: created.id)
    }

    /// Ends every connection politely.
    public func cut() async throws { try await order("cut") }

    /// Ends every connection rudely.
    public func reset() async throws { try await order("reset") }

    /// Forwards nothing and keeps the sockets open, until ``resume(_:)`` or for so long.
    /// - Parameters:
    ///   - direction: nil for both.
    ///   - new: whether connections to come are stalled as well.
    public func stall(_ direction: Direction? = nil, new: Bool = false, forMs: Int? = nil) async throws {
        try await order("stall", direction, new: new, forMs: forMs)
    }

    /// Forwards again, first of all what has been held back.
    public func resume(_ direction: Direction? = nil) async throws { try await order("resume", direction) }

    /// Corrupts a byte of whatever comes next on every connection.
    public func corrupt(_ direction: Direction? = nil) async throws { try await order("corrupt", direction) }

    /// Refuses new connections, as if nobody listened, until ``accept()`` or for so long.
    public func refuse(forMs: Int? = nil) async throws { try await order("refuse", forMs: forMs) }

    /// Takes connections again.
    public func accept() async throws { try await order("accept") }

    /// Does from now on what the plan says, to connections that stand as well.
    public func change(_ plan: FaultPlan) async throws {
        _ = try await Self.post(["plan": plan], to: control, as: Counters.self)
    }

    /// What has happened so far.
    public func counters() async throws -> Counters {
        try await counted([])
    }

    /// What has happened, once so much has.
    /// - Throws: ``Waited`` when it has not within `timeoutMs` milliseconds.
    @discardableResult
    public func counters(
        connections: Int? = nil, open: Int? = nil, toServer: Int? = nil, toClient: Int? = nil, faults: Int? = nil,
        timeoutMs: Int = 10_000
    ) async throws -> Counters {
        let wanted = [
            ("connections", connections), ("open", open), ("toServer", toServer), ("toClient", toClient),
            ("faults", faults),
            ("timeoutMs", timeoutMs),
        ]
        let counters = try await counted(
            wanted.compactMap { name, value in value.map { URLQueryItem(name: name, value: "\($0)") } })
        guard counters.complete != false else { throw Waited(counters: counters, threads: Self.threads()) }
        return counters
    }

    /// Resets what is left and gives the port back.
    public func close() async throws {
        try await TestControl.delete(control)
    }

    /// What has gone through a proxy.
    public struct Counters: Decodable, Sendable {
        /// Connections taken from clients.
        public let connections: Int
        /// Those of them that stand.
        public let open: Int
        /// Bytes forwarded to the server.
        public let toServer: Int
        /// Bytes forwarded to clients.
        public let toClient: Int
        /// Faults done, by kind.
        public let faults: [String: Int]
        /// What each connection that stands is doing, in words.
        public let standing: [String]
        let complete: Bool?
    }

    /// What was waited for did not happen; this did.
    public struct Waited: Error {
        public let counters: Counters
        /// What the threads of this process that serve connections are doing: the system call, and its arguments.
        public let threads: [String]
    }

    private static func threads() -> [String] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.compactMap { task in
            func text(_ name: String) -> String {
                (try? String(contentsOfFile: "/proc/self/task/\(task)/\(name)", encoding: .utf8)) ?? ""
            }
            let name = text("comm").trimmingCharacters(in: .newlines)
            return name.hasPrefix("feathers") ? "\(name): \(text("syscall").trimmingCharacters(in: .newlines))" : nil
        }
    }

    private func order(_ command: String, _ direction: Direction? = nil, new: Bool? = nil, forMs: Int? = nil)
        async throws
    {
        let order = Order(command: command, direction: direction, new: new, forMs: forMs)
        _ = try await Self.post(order, to: control, as: Counters.self)
    }

    private func counted(_ wanted: [URLQueryItem]) async throws -> Counters {
        try JSONDecoder().decode(Counters.self, from: await TestControl.get(control.appending(queryItems: wanted)))
    }

    private static func post<Answer: Decodable>(_ body: some Encodable, to url: URL, as: Answer.Type) async throws
        -> Answer
    {
        try JSONDecoder().decode(Answer.self, from: await TestControl.post(body, to: url))
    }
}

private struct Settings: Encodable {
    var target: String?
    var targets: [String]?
    let seed: UInt64
    let plan: FaultPlan
    let tls: Bool
    var receiveBuffer: Int?
    var tunnel: Bool?
    var credentials: String?
}

private struct Order: Encodable {
    let command: String
    let direction: FaultProxy.Direction?
    let new: Bool?
    let forMs: Int?
}

private struct Created: Decodable {
    let id: String
    let port: Int
}
