import FeathersCore
import FeathersNetworking
import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

/// A transport that reaches its backend through a proxy.
struct FaultyConnection: Sendable {
    let proxy: FaultProxy
    let transport: SocketIOTransport
    let control: BackendControl
    let deliveries = Mailbox<Scene.Delivery>()
    private let executor = SettlingExecutor()

    /// Runs a body with a transport that does nothing yet, then looks whether anything of it is left.
    static func through(
        _ way: Way, on backend: TestBackend = FaultTests.backend, plan: FaultPlan = FaultPlan(),
        _ configure: (inout SocketIOTransport.Options) -> Void = { _ in },
        _ body: (FaultyConnection) async throws -> Void
    ) async throws {
        try await MachineLoad.settles()
        let server = try await backend.url()
        let proxy = try await FaultProxy(to: server, plan: plan)
        try await Self.run(proxy, BackendControl(server), way, configure, body)
        // What was stalled for ever ends where both sides have gone.
        try await proxy.change(FaultPlan())
        try await proxy.resume()
        try await proxy.counters(open: 0)
        try await proxy.close()
    }

    /// Connects first.
    static func connected(
        _ way: Way, on backend: TestBackend = FaultTests.backend, plan: FaultPlan = FaultPlan(),
        _ body: (FaultyConnection) async throws -> Void
    ) async throws {
        try await through(way, on: backend, plan: plan) { connection in
            try await connection.transport.connect()
            try await body(connection)
        }
    }

    // The transport must be gone before what is left of its connections can be counted.
    private static func run(
        _ proxy: FaultProxy, _ control: BackendControl, _ way: Way,
        _ configure: (inout SocketIOTransport.Options) -> Void,
        _ body: (FaultyConnection) async throws -> Void
    ) async throws {
        let connection = FaultyConnection(proxy, control, way, configure)
        do {
            try await body(connection)
        } catch {
            await connection.transport.disconnect()
            Issue.record("The proxy: \(try await proxy.counters())")
            throw error
        }
        await connection.transport.disconnect()
        #expect(connection.transport.pendingCallCount == 0)
        #expect(connection.transport.status == .offline)
    }

    private init(
        _ proxy: FaultProxy, _ control: BackendControl, _ way: Way,
        _ configure: (inout SocketIOTransport.Options) -> Void
    ) {
        self.proxy = proxy
        self.control = control
        transport = .socketIO(proxy.url) {
            $0.transports = way.transports
            $0.reconnection = .soon
            $0.callTimeout = .seconds(40)
            configure(&$0)
        }
        transport.deliver(
            to: EventSink { [deliveries] event in
                deliveries.put(.event(event.path, event.name.rawValue, event.data))
            } onGap: { [deliveries] _ in
                deliveries.put(.gap)
            })
    }

    func call(_ path: String, _ method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil) async throws
        -> JSONValue
    {
        try await transport.send(ServiceRequest(path: path, method: method, id: id, data: data)).result
    }

    /// A number there and back again, without an event.
    func echo(_ number: Int) async throws -> JSONValue? {
        try await call("echo", .custom("shout"), data: ["n": .integer(Int64(number))])["data"]?["n"]
    }

    /// The error a call ends with.
    func failure(_ path: String, _ method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil) async throws
        -> FeathersError
    {
        // Without the answer, which may be long.
        try await #require(throws: FeathersError.self) { _ = try await call(path, method, id: id, data: data) }
    }

    /// The errors of several calls the server does not answer while a test lasts.
    func failuresOfSlowCalls(_ count: Int) async throws -> [FeathersError] {
        try await withThrowingTaskGroup(of: FeathersError.self) { group in
            for _ in 0..<count {
                group.addTask { try await failure("slow", .get, id: 60_000) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Starts calls and returns once they wait, for their answers or to be sent, or have ended.
    func start<Result: Sendable>(_ calls: @escaping @Sendable () async throws -> Result) async -> Task<
        Result, any Error
    > {
        await executor.start(calls)
    }

    /// Checks that the connection came back: calls are answered, and the hole in the events is marked once.
    func expectRecovery() async throws {
        #expect(try await echo(42) == 42)
        #expect(transport.status == .connected(recovered: false))
        // Other tests' events may stand around it.
        #expect(deliveries.waiting.count { $0 == .gap } == 1)
    }
}

extension ReconnectionPolicy {
    /// So fast that no test waits for it.
    static let soon = ReconnectionPolicy(initialDelay: .milliseconds(20), maximumDelay: .milliseconds(200))
}
