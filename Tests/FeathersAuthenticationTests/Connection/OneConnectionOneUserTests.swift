import Feathers
import FeathersSupport
import TestBackend
import Testing

@testable import FeathersTesting

/// A connection belongs to no one until its first sign-in, then to that user until it ends.
@Suite(.timeLimit(.minutes(10)))
struct OneConnectionOneUserTests {
    enum Kind: CaseIterable, Sendable { case socket, mixed }

    /// A server that knows the user of each connection, and records what it executes.
    private final class Server: Sendable {
        let transport = StubRealTimeTransport()
        let log = Locked<[String]>([])
        /// The methods that the server receives, but does not answer.
        let silent = Locked<Set<String>>([])
        /// How many calls to `secured` fail with 401.
        let refusals = Locked(0)
        private let users = Locked<[Int: String]>([:])

        init() {
            let (line, log, users, silent, refusals) = (transport.connection.line, log, users, silent, refusals)
            transport.stub(
                where: { _ in true },
                with: ServiceStub(taking: { request in
                    let link = line.current.link ?? 0
                    let isSilent = silent.withLock { $0.contains("\(request.path).\(request.method)") }
                    if isSilent { return { try await Promise<JSONValue>().value() } }
                    let isRefused = refusals.withLock { count in
                        guard request.path == "secured", count > 0 else { return false }
                        count -= 1
                        return true
                    }
                    if isRefused { return { throw FeathersError(.notAuthenticated, "jwt expired") } }
                    func record(_ what: String) { log.withLock { $0.append("\(link): \(what)") } }
                    switch (request.path, request.method) {
                    case ("authentication", .create):
                        let name = (request.data?["email"] ?? request.data?["accessToken"])?.string ?? ""
                        record("sign in \(name)")
                        guard name != "mallory" else {
                            return { throw FeathersError(.notAuthenticated, "Invalid login") }
                        }
                        users.withLock { $0[link] = name }
                        return { ["accessToken": .string(name), "user": ["id": .string(name)]] }
                    case ("authentication", _):
                        record("remove")
                        users.withLock { $0[link] = nil }
                    default: record("\(request.method) as \(users.withLock { $0[link] } ?? "no one")")
                    }
                    return { [] }
                }))
        }

        var executed: [String] { log.withLock { $0 } }
    }

    private let server = Server()
    private let clock = ManualClock()
    private let executor = SettlingExecutor()
    private let rest = StubTransport { request in
        ["accessToken": request.data?["email"] ?? .null, "user": ["id": request.data?["email"] ?? .null]]
    }

    private func app(_ kind: Kind, _ configure: (inout AuthenticationOptions) -> Void = { _ in }) async throws
        -> FeathersApp
    {
        let isMixed = kind == .mixed
        let app = FeathersApp(
            transport: isMixed
                ? .mixed(realTime: server.transport, rest: rest) { $0.fallback = .never }
                : server.transport as any Transport
        )
        try app.use(
            authentication: AuthenticationOptions {
                $0.clock = clock
                configure(&$0)
            })
        try await app.connect()
        return app
    }

    private func user(_ name: String = "alice") -> AuthenticationCredentials { .local(email: name, password: "p") }

    @Test(arguments: Kind.allCases)
    func `A log-out ends the connection, and public calls and events use the next one`(kind: Kind) async throws {
        let app = try await app(kind)
        try await app.authenticate(user())
        try await app.service("messages").create([:])
        try await app.logOut()
        try await app.service("messages").create([:])
        #expect(server.executed == ["1: sign in alice", "1: create as alice", "1: remove", "2: create as no one"])
        let events = app.service("news").events(.created)
        server.transport.emit(.created, of: "news", ["id": 1])
        #expect(await events.first { _ in true }?["id"] == 1)
        await app.disconnect()
    }

    @Test(arguments: Kind.allCases)
    func `Another sign-in ends the connection before it is sent`(kind: Kind) async throws {
        let app = try await app(kind)
        try await app.authenticate(user())
        try await app.authenticate(user("bob"))
        try await app.service("messages").create([:])
        #expect(server.executed == ["1: sign in alice", "2: sign in bob", "2: create as bob"])
        await app.disconnect()
    }

    @Test(arguments: Kind.allCases)
    func `A call in flight at the log-out ends with the connection, and one that waits is never sent`(kind: Kind)
        async throws
    {
        let app = try await app(kind)
        try await app.authenticate(user())
        server.silent.withLock { $0 = ["slow.create", "authentication.remove"] }
        await app.service("slow").use(hooks: .limiting(to: 1))
        let inFlight = Task { await failure { try await app.service("slow").create([:]) } }
        try await server.transport.waitForRequest(number: 2)
        let queued = await executor.start { await failure { try await app.service("slow").create([:]) } }
        let logOut = Task { try await app.logOut() }
        try await server.transport.waitForRequest(number: 3)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        try await logOut.value
        #expect(await inFlight.value?.execution == .mayHaveExecuted)
        #expect(try await queued.value?.execution == .neverSent)
        await app.disconnect()
    }

    @Test func `Calls that wait for a connection at the log-out are never sent`() async throws {
        let app = try await app(.socket)
        try await app.authenticate(user())
        server.transport.drop()
        let call = Task { await failure { try await app.service("messages").create([:]) } }
        try await server.transport.waitForWaitingCalls(1)
        try await app.logOut()
        #expect(await call.value?.execution == .neverSent)
        server.transport.restore()
        try await app.service("messages").create([:])
        #expect(server.executed == ["1: sign in alice", "2: create as no one"])
        await app.disconnect()
    }

    @Test(arguments: Kind.allCases)
    func `A log-out that the server never answers ends in time, and ends the connection`(kind: Kind) async throws {
        let app = try await app(kind)
        try await app.authenticate(user())
        server.silent.withLock { $0 = ["authentication.remove"] }
        let logOut = Task { try await app.logOut() }
        try await server.transport.waitForRequest(number: 2)
        #expect(app.authentication == .signedOut)
        // Nothing passes while the connection ends, neither a call nor a sign-in.
        let call = Task { try await app.service("messages").create([:]) }
        try await server.transport.waitForWaitingCalls(1)
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        try await logOut.value
        _ = try await call.value
        #expect(server.executed == ["1: sign in alice", "2: create as no one"])
        await app.disconnect()
    }

    @Test func `A sign-in during a log-out ends the connection at once`() async throws {
        let app = try await app(.socket)
        try await app.authenticate(user())
        server.silent.withLock { $0 = ["authentication.remove"] }
        let logOut = Task { try await app.logOut() }
        try await server.transport.waitForRequest(number: 2)
        try await app.authenticate(user("bob"))
        try await logOut.value
        try await app.service("messages").create([:])
        // The end of the log-out leaves the next user's connection open.
        #expect(server.executed == ["1: sign in alice", "2: sign in bob", "2: create as bob"])
        await app.disconnect()
    }

    @Test(arguments: Kind.allCases)
    func `An event that arrives late over the ended connection is dropped`(kind: Kind) async throws {
        let app = try await app(kind)
        try await app.authenticate(user())
        server.silent.withLock { $0 = ["authentication.remove"] }
        let events = app.service("notes").events(.created)
        let logOut = Task { try await app.logOut() }
        try await server.transport.waitForRequest(number: 2)
        server.transport.emit(.created, of: "notes", ["text": "alice's"])
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        try await logOut.value
        try await server.transport.waitForStatus { $0 == .connected(recovered: false) }
        server.transport.emit(.created, of: "notes", ["text": "public"])
        #expect(await events.first { _ in true }?["text"] == "public")
        await app.disconnect()
    }

    @Test func `An event that arrives during a sign-in is dropped, and followed by a gap`() async throws {
        let app = try await app(.socket)
        let gate = Promise<Void>()
        await app.service("authentication").use(hooks: Hooks(after: [.create: [{ _ in try await gate.value() }]]))
        let deliveries = app.service("notes").eventDeliveries()
        let signIn = Task { try await app.authenticate(user()) }
        try await server.transport.waitForRequest(number: 1)
        server.transport.emit(.created, of: "notes", ["text": "alice's, or no one's"])
        gate.resolve(())
        _ = try await signIn.value
        server.transport.emit(.created, of: "notes", ["text": "alice's"])
        var heard: [String] = []
        for await delivery in deliveries {
            guard case .event(let event) = delivery else {
                heard.append("gap")
                continue
            }
            heard.append(event.data["text"]?.string ?? "")
            break
        }
        #expect(heard == ["gap", "alice's"])
        await app.disconnect()
    }

    @Test func `Events that the previous user missed are not replayed to the next one`() async throws {
        let app = try await app(.socket)
        try await app.authenticate(user())
        let events = app.service("notes").events(.created)
        server.transport.drop()
        server.transport.emit(.created, of: "notes", ["text": "alice's"])
        try await server.transport.waitForStatus { if case .waiting = $0 { true } else { false } }
        try await app.logOut()
        server.transport.restore(recovered: true)
        try await server.transport.waitForStatus { $0 == .connected(recovered: false) }
        server.transport.emit(.created, of: "notes", ["text": "public"])
        #expect(await events.first { _ in true }?["text"] == "public")
        await app.disconnect()
    }

    @Test func `A log-out is one reconnect, and events of the next user follow a gap`() async throws {
        let app = try await app(.socket)
        try await app.authenticate(user())
        let deliveries = app.service("notes").eventDeliveries()
        var reasons: [String] = []
        var iterator = deliveries.makeAsyncIterator()
        let logOut = Task { try await app.logOut() }
        if case .gap(let gap)? = await iterator.next() { reasons.append("\(gap.reason)") }
        try await logOut.value
        try await server.transport.waitForStatus { $0 == .connected(recovered: false) }
        server.transport.emit(.created, of: "notes", ["id": 1])
        while case .gap(let gap)? = await iterator.next() { reasons.append("\(gap.reason)") }
        #expect(reasons.first == "identityChanged" && reasons.dropFirst().allSatisfy { $0 == "reconnected" })
        #expect(server.transport.openings.count == 2)
        await app.disconnect()
    }

    @Test func `A refresh keeps the connection, and one that brings another user ends it`() async throws {
        let names = Locked(["alice", "bob"])
        let app = try await app(.socket) { options in
            options.refresh = .function { _ in
                .credentials(.local(email: names.withLock { $0.removeFirst() }, password: "p"))
            }
        }
        try await app.authenticate(user())
        for _ in 1...2 {
            server.refusals.withLock { $0 = 1 }
            _ = try? await app.service("secured").create([:])
        }
        try await app.service("messages").create([:])
        #expect(
            server.executed == [
                "1: sign in alice", "1: sign in alice", "1: create as alice", "1: sign in bob", "2: sign in bob",
                "2: create as bob",
            ])
        await app.disconnect()
    }

    @Test func `A refused sign-in leaves the connection to no one`() async throws {
        let app = try await app(.socket)
        #expect(await failure { try await app.authenticate(user("mallory")) }?.code == .notAuthenticated)
        try await app.service("messages").create([:])
        try await app.authenticate(user())
        try await app.service("messages").create([:])
        let expected = ["1: sign in mallory", "1: create as no one", "1: sign in alice", "1: create as alice"]
        #expect(server.executed == expected)
        await app.disconnect()
    }

    @Test func `A connection whose handshake carried the token of a user who has left is not used`() async throws {
        let (isHeld, reached, gate) = (Locked(false), Promise<Void>(), Promise<Void>())
        let app = try await app(.socket) { $0.authenticatesHandshake = true }
        // Runs after the token has been read.
        server.transport.use(
            connectionSetup: ConnectionSetup(headers: {
                guard isHeld.withLock({ $0 }) else { return [:] }
                reached.resolve(())
                try await gate.value()
                return [:]
            }))
        try await app.authenticate(user())
        isHeld.withLock { $0 = true }
        server.transport.drop()
        server.transport.restore()
        try await reached.value()
        isHeld.withLock { $0 = false }
        try await app.logOut()
        gate.resolve(())
        try await app.service("messages").create([:])
        #expect(server.executed == ["1: sign in alice", "3: create as no one"])
        #expect(server.transport.openings.map { $0["Authorization"] } == [nil, "Bearer alice", nil])
        await app.disconnect()
    }
}
