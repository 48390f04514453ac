import FeathersCore
import FeathersSupport
import FeathersTesting
import Synchronization
import Testing

@Suite("A stub transport with a connection", .timeLimit(.minutes(10)))
struct StubRealTimeTransportTests {
    private let transport = StubRealTimeTransport()
    private let app: FeathersApp

    init() {
        transport.stub("messages", with: Stub { $0.data ?? $0.id?.json ?? .null })
        app = FeathersApp(transport: transport)
    }

    private func failure(_ body: sending () async throws -> JSONValue) async -> FeathersError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? FeathersError
        }
    }

    @Test("connects and says good-bye, and tells of it")
    func statuses() async throws {
        var updates = transport.statusUpdates().makeAsyncIterator()
        try await app.connect()
        try await app.connect()
        await app.disconnect()
        await app.disconnect()
        var heard: [ConnectionStatus?] = []
        for _ in 0..<4 { heard.append(await updates.next()) }
        #expect(heard == [.offline, .connecting(attempt: 1), .connected(recovered: false), .offline])
        #expect(transport.status == .offline)
    }

    @Test("lets calls wait for the connection, which arrive in their order")
    func waiting() async throws {
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for id in 1...20 {
                group.addTask { [app] in try await app.service("messages").get(ServiceID(id)) }
                try await transport.waitForWaitingCalls(id)
            }
            #expect(transport.requests.isEmpty)
            try await app.connect()
            try await group.waitForAll()
        }
        #expect(transport.requests.map(\.id) == (1...20).map { ServiceID($0) })
        #expect(transport.waitingCallCount == 0)
        await app.disconnect()
    }

    @Test("prepares every connection ahead of the calls that wait for it")
    func prepare() async throws {
        let statuses = Mutex<[ConnectionStatus]>([])
        transport.stub("authentication", with: .value(["ok": true]))
        transport.use(
            connectionSetup: ConnectionSetup(
                headers: { ["Authorization": "Bearer t"] },
                prepare: { [transport] send in
                    statuses.withLock { $0.append(transport.status) }
                    _ = try? await send(ServiceRequest(path: "authentication", method: .create))
                }))
        async let waiting = app.service("messages").get(1)
        try await transport.waitForWaitingCalls(1)
        try await app.connect()
        #expect(try await waiting == 1)
        #expect(transport.requests.map(\.path) == ["authentication", "messages"])
        transport.drop()
        try await transport.waitForStatus { if case .waiting = $0 { true } else { false } }
        async let again = app.service("messages").get(2)
        try await transport.waitForWaitingCalls(1)
        transport.restore()
        #expect(try await again == 2)
        #expect(transport.requests.map(\.path) == ["authentication", "messages", "authentication", "messages"])
        #expect(statuses.withLock { $0 } == [.connecting(attempt: 1), .connecting(attempt: 2)])
        #expect(transport.openings == [["Authorization": "Bearer t"], ["Authorization": "Bearer t"]])
        await app.disconnect()
    }

    @Test(
        "lets sign-in calls arrive ahead of all others while a connection is prepared, so preparing may wait for them"
    )
    func sessionLane() async throws {
        var params = Params()
        params.concernsConnection = true
        let signIn = ServiceRequest(path: "authentication", method: .create, params: params)
        transport.stub("authentication", with: .value(["ok": true]))
        let first = Task { [transport] in try await transport.send(signIn) }
        transport.use(
            connectionSetup: ConnectionSetup(prepare: { [transport] _ in
                // One that waited, and one made meanwhile.
                _ = try? await first.value
                _ = try? await transport.send(signIn)
            }))
        async let waiting = app.service("messages").get(1)
        try await transport.waitForWaitingCalls(2)
        try await app.connect()
        #expect(try await waiting == 1)
        #expect(transport.requests.map(\.path) == ["authentication", "authentication", "messages"])
        await app.disconnect()
    }

    @Test("runs what accompanies a connection beside it and cancels it with it")
    func accompany() async throws {
        let (log, lines) = AsyncStream.makeStream(of: String.self)
        transport.use(
            connectionSetup: ConnectionSetup(accompany: { _ in
                lines.yield("begins")
                let (never, continuation) = AsyncStream.makeStream(of: Never.self)
                for await _ in never {}
                withExtendedLifetime(continuation) {}
                lines.yield(Task.isCancelled ? "cancelled" : "ended")
            }))
        var heard = log.makeAsyncIterator()
        try await app.connect()
        #expect(await heard.next() == "begins")
        transport.drop()
        #expect(await heard.next() == "cancelled")
        transport.restore()
        #expect(await heard.next() == "begins")
        await app.disconnect()
        #expect(await heard.next() == "cancelled")
    }

    @Test("fails calls under way when it is lost; what comes back begins with a gap")
    func loss() async throws {
        transport.stub("slow", with: .unanswered)
        var deliveries = app.service("messages").eventDeliveries().makeAsyncIterator()
        try await app.connect()
        async let slow = failure { [app] in try await app.service("slow").get(1) }
        try await transport.waitForRequest(number: 1)
        transport.drop(.pingTimeout)
        let error = await slow
        #expect(error?.code == .unavailable && error?.execution == .mayHaveExecuted)
        transport.emit(.created, of: "messages", "missed")
        try await transport.waitForStatus { if case .waiting(1, .zero, _) = $0 { true } else { false } }
        transport.restore()
        try await transport.waitForStatus { $0 == .connected(recovered: false) }
        transport.emit(.created, of: "messages", "heard")
        guard case .gap(let gap)? = await deliveries.next(), case .reconnected = gap.reason else {
            Issue.record("no gap came first")
            return
        }
        guard case .event(let event)? = await deliveries.next() else {
            Issue.record("no event came after the gap")
            return
        }
        #expect(event.data == "heard")
        await app.disconnect()
    }

    @Test("replays what was missed where the connection is recovered")
    func recovery() async throws {
        let deliveries = app.service("messages").eventDeliveries([.created])
        try await app.connect()
        transport.drop()
        transport.emit(.created, of: "messages", "missed")
        transport.restore(recovered: true)
        try await transport.waitForStatus { $0 == .connected(recovered: true) }
        transport.emit(.created, of: "messages", "heard")
        var heard: [JSONValue] = []
        for await delivery in deliveries {
            guard case .event(let event) = delivery else {
                Issue.record("a gap came")
                break
            }
            heard.append(event.data)
            if heard.count == 2 { break }
        }
        #expect(heard == ["missed", "heard"])
        await app.disconnect()
    }

    @Test("comes back after the server ended it")
    func serverDisconnect() async throws {
        let running = Task { [transport] in try await transport.run() }
        try await transport.waitForStatus { $0 == .connected(recovered: false) }
        transport.drop(.serverDisconnect)
        transport.restore()
        #expect(try await app.service("messages").get(1) == 1)
        running.cancel()
        try await running.value
    }

    @Test("is closed for good by a refusal, unless a plugin wants it back", arguments: [false, true])
    func closedForGood(isWanted: Bool) async throws {
        transport.use(connectionSetup: ConnectionSetup(reconnects: { $0 == .refused("no") && isWanted }))
        let running = Task { [transport] in try await transport.run() }
        try await transport.waitForStatus { $0 == .connected(recovered: false) }
        transport.drop(.refused("no"))
        if isWanted {
            transport.restore()
            try await transport.waitForStatus { $0 == .connecting(attempt: 2) }
            running.cancel()
            try await running.value
        } else {
            await #expect { try await running.value } throws: { FeathersError.Code.unavailable ~= $0 }
            #expect(transport.status == .closed(.refused("no")))
            let late = await failure { [app] in try await app.service("messages").get(1) }
            #expect(late?.code == .unavailable && late?.execution == .neverSent)
            transport.restore()
            try await app.connect()
            #expect(try await app.service("messages").get(1) == 1)
            await app.disconnect()
        }
    }

    @Test("fails to connect while the server is away or refuses, and leaves nothing running")
    func failingToConnect() async throws {
        transport.drop()
        await #expect { try await app.connect() } throws: { FeathersError.Code.unavailable ~= $0 }
        transport.refuse(with: FeathersError(.notAuthenticated, "Who are you?"))
        await #expect { try await app.connect() } throws: { FeathersError.Code.notAuthenticated ~= $0 }
        #expect(transport.status == .closed(.refused("Who are you?")))
        transport.restore()
        try await app.connect()
        await #expect { try await transport.run() } throws: { FeathersError.Code.conflict ~= $0 }
        await app.disconnect()
    }

    @Test("gives connect one further attempt where a plugin wants it", arguments: [1, 2])
    func insistence(refusals: Int) async throws {
        let asked = Mutex(0)
        transport.use(
            connectionSetup: ConnectionSetup(reconnects: { _ in
                asked.withLock { $0 += 1 }
                return true
            }))
        transport.refuse(with: FeathersError(.notAuthenticated, "Expired"), attempts: refusals)
        let error = await failure { [app] in
            try await app.connect()
            return .null
        }
        #expect(error?.code == (refusals == 1 ? nil : .notAuthenticated))
        #expect(asked.withLock { $0 } == 1)
        #expect(transport.openings.count == 2)
        await app.disconnect()
    }

    @Test("goes on waiting for the next connection where one is lost while it is prepared")
    func lostWhilePreparing() async throws {
        let isFirst = Mutex(true)
        transport.stub("authentication", with: .unanswered)
        transport.use(
            connectionSetup: ConnectionSetup(prepare: { [transport] send in
                let isLost = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard isLost else { return }
                transport.drop()
                transport.restore()
                let error = await Result { try await send(ServiceRequest(path: "authentication", method: .create)) }
                #expect((try? error.get()) == nil)
            }))
        async let waiting = app.service("messages").get(1)
        try await transport.waitForWaitingCalls(1)
        let running = Task { [transport] in try await transport.run() }
        #expect(try await waiting == 1)
        #expect(transport.requests.map(\.path) == ["messages"])
        running.cancel()
        try await running.value
    }

    @Test("waits for a server that is away where it runs, and ends when cancelled")
    func awayWhileRunning() async throws {
        transport.drop()
        let running = Task { [transport] in try await transport.run() }
        try await transport.waitForStatus { if case .waiting = $0 { true } else { false } }
        running.cancel()
        try await running.value
        #expect(transport.status == .offline)
    }

    @Test("gives calls up at their deadline and says whether they arrived")
    func deadlines() async throws {
        let clock = ManualClock()
        let transport = StubRealTimeTransport(callTimeout: .seconds(10), clock: clock)
        let arrived = Promise<Void>()
        transport.stub(
            "slow",
            with: ServiceStub { _ in
                arrived.resolve(())
                try await Promise<Void>().value()
                return .null
            })
        let slow = FeathersApp(transport: transport).service("slow")
        async let unsent = failure { try await slow.get(1) }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        #expect(await unsent?.execution == .neverSent)
        #expect(transport.requests.isEmpty)
        try await slow.app.connect()
        async let sent = failure { try await slow.get(1, params: Params(timeout: .seconds(1))) }
        try await arrived.value()
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        let error = await sent
        #expect(error?.code == .timeout && error?.execution == .mayHaveExecuted)
        #expect((transport.calls[0].error as? FeathersError)?.code == .timeout)
        await slow.app.disconnect()
    }

    @Test("forgets a call that is cancelled while it waits")
    func cancelled() async throws {
        let waiting = Task { [app] in try await app.service("messages").get(1) }
        try await transport.waitForWaitingCalls(1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(transport.waitingCallCount == 0)
        try await app.connect()
        #expect(try await app.service("messages").get(2) == 2)
        #expect(transport.requests.map(\.id) == [2])
        await app.disconnect()
    }

    @Test("tells of changes that calls have made, once, unless it shall not", arguments: [true, false])
    func pushing(isPushing: Bool) async throws {
        let transport = StubRealTimeTransport(
            services: ["messages": MemoryService(multi: .all)], pushesEvents: isPushing)
        let messages = FeathersApp(transport: transport).service("messages")
        let events = messages.events(nil)
        try await messages.app.connect()
        try await messages.create(contentsOf: [["n": 1], ["n": 2]])
        _ = try await messages.find()
        transport.emit("end", of: "messages", .null)
        var heard: [EventName] = []
        for await event in events {
            heard.append(event.name)
            if event.name == "end" { break }
        }
        #expect(heard == (isPushing ? [.created, .created, "end"] : ["end"]))
        await messages.app.disconnect()
    }

    @Test("hands on to a real-time transport, whose events come through")
    func passThrough() async throws {
        let server = StubRealTimeTransport()
        server.stub("messages", with: .value(["from": "server"]))
        let transport = StubRealTimeTransport(passingThrough: server)
        transport.stub("messages", .patch, with: .value(["from": "stub"]))
        let messages = FeathersApp(transport: transport).service("messages")
        let events = messages.events()
        try await server.connect()
        try await messages.app.connect()
        try await messages.create([:])
        try await messages.patch(1, with: [:])
        var heard: [String] = []
        for await event in events {
            heard.append("\(event.name) \(event.data["from"]?.string ?? "-")")
            if heard.count == 2 { break }
        }
        #expect(heard == ["created server", "patched stub"])
        await messages.app.disconnect()
        await server.disconnect()
    }

    @Test("is released with its app, connected or not")
    func release() async throws {
        weak var released: StubRealTimeTransport?
        do {
            let transport = StubRealTimeTransport()
            released = transport
            try await FeathersApp(transport: transport).connect()
        }
        #expect(released == nil)
    }
}
