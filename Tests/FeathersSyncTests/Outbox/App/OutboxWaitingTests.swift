import Feathers
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("What an outbox waits for", .timeLimit(.minutes(10)))
struct OutboxWaitingTests {
    @Test("A refusal for want of a sign-in pauses all until somebody has signed in")
    func authentication() async throws {
        let isOpen = Locked(false)
        let transport = StubTransport { request in
            if request.path == "authentication" {
                isOpen.withLock { $0 = true }
                return ["accessToken": "secret", "user": ["id": 1]]
            }
            guard isOpen.withLock({ $0 }) else { throw FeathersError(.notAuthenticated, "Not authenticated") }
            return request.record
        }
        let folder = try OutboxFolder()
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions())
        let outbox = try await Outbox(file: folder.file)
        try app.use(outbox: outbox)
        let first = try await app.service("messages").outbox.create(["n": 1])
        let second = try await app.service("messages").outbox.create(["n": 2])
        try await withFeathersApp(app) { app in
            let state = try await outbox.wait {
                $0.activity == .waitingForSignIn && $0.entries.allSatisfy { $0.status == .waiting }
            }
            #expect(state.entries.count == 2)
            try await app.authenticate(.local(email: "a@example.com", password: "p4ssw0rd"))
            _ = try await first.result()
            _ = try await second.result()
            #expect(outbox.state.activity == .active)
        }
        let text = try String(decoding: Data(contentsOf: folder.file), as: UTF8.self)
        #expect(!text.contains("secret") && !text.contains("p4ssw0rd"))
    }

    @Test("Apps that sign in by other means say so")
    func resumed() async throws {
        let scene = try await OutboxApp(server: AnsweringServer(AnsweringServer.failing(.notAuthenticated)))
        let queued = try await scene.messages.outbox.create(["n": 1])
        try await scene.live { _ in
            try await scene.outbox.wait { $0.activity == .waitingForSignIn }
            scene.outbox.retryNow()
            _ = try await queued.result()
        }
    }

    @Test(
        "A signed-out write that may have been executed for a user is repeated only for them, even by a later process"
    )
    func claimed() async throws {
        let folder = try OutboxFolder()
        let lost = AnsweringServer(AnsweringServer.failing(.timeout, .mayHaveExecuted))
        func scene(_ server: AnsweringServer) async throws -> OutboxApp {
            try await OutboxApp(in: folder, server: server) { ($0.isKeyed, $0.keyPlaces) = (true, [.query("key")]) }
        }
        let first = try await scene(lost)
        for number in 1...2 { try await first.messages.outbox.patch(7, with: ["n": number]) }
        first.app.setIdentity(Identity("alice"))
        try await first.live { app in
            try await first.outbox.wait { $0.activity == .unreachable }
            app.setIdentity(Identity("bob"))
            let left = try await first.outbox.flush(within: .seconds(300))
            #expect(left.isEmpty)
        }
        #expect(lost.requests.count == 1)

        let second = try await scene(AnsweringServer())
        second.app.setIdentity(Identity("bob"))
        try await second.live { app in
            let left = try await second.outbox.flush(within: .seconds(300))
            #expect(left.isEmpty && second.server.requests.isEmpty)
            app.setIdentity(Identity("alice"))
            try await second.outbox.flush(within: .seconds(300))
        }
        #expect(second.server.requests.map { $0.data?["n"] } == [1, 2])
        #expect(second.server.requests.first?.params.query == lost.requests.first?.params.query)
    }

    @Test("A signed-out write that waits for a sign-in in progress is sent as that user's")
    func claimedDuringSignIn() async throws {
        let (asked, answered) = (Promise<Void>(), Promise<Void>())
        let folder = try OutboxFolder()
        let stored = Locked<[Identity?]>([])
        let transport = StubTransport { request in
            guard request.path == "authentication" else {
                let writes = try Journal.peek(at: folder.file, service: "messages").writes
                stored.withLock { $0 = writes.map(\.write.identity) }
                return request.record
            }
            asked.resolve(())
            try await answered.value()
            return ["accessToken": "secret", "user": ["id": 1]]
        }
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions())
        let outbox = try await Outbox(file: folder.file)
        try app.use(outbox: outbox)
        try await withFeathersApp(app) { app in
            async let signedIn = app.authenticate(.local(email: "a@example.com", password: "p4ssw0rd"))
            try await asked.value()
            let queued = try await app.service("messages").outbox.create(["n": 1])
            try await outbox.wait { $0.entries.first?.status == .sending }
            answered.resolve(())
            _ = try await signedIn
            _ = try await queued.result()
            // When it was sent, it was stored as this user's.
            #expect(app.identity != nil && stored.withLock { $0 } == [app.identity])
        }
        #expect(transport.requests.map(\.path) == ["authentication", "messages"])
    }

    @Test("Over a connection it waits for the connection, and no delay")
    func connection() async throws {
        let folder = try OutboxFolder()
        let clock = ManualClock()
        let transport = StubRealTimeTransport()
        transport.stub("messages", with: ServiceStub { $0.record })
        // Until it is restored, so that the outbox stays offline for as long as the test takes to look.
        transport.drop()
        let app = FeathersApp(transport: transport)
        let outbox = try await Outbox(file: folder.file) { $0.clock = clock }
        try app.use(outbox: outbox)
        let queued = try await app.service("messages").outbox.create(["n": 1])
        try await withFeathersApp(app) { _ in
            try await outbox.wait { $0.activity == .offline }
            transport.restore(recovered: false)
            _ = try await queued.result()
            transport.drop(.pingTimeout)
            try await outbox.wait { $0.activity == .offline }
            let later = try await app.service("messages").outbox.create(["n": 2])
            transport.restore(recovered: false)
            _ = try await later.result()
        }
        #expect(outbox.state.activity == .stopped)
    }

    @Test("The server's own delay is waited for, the outbox' otherwise", arguments: [nil, Duration.seconds(40)])
    func delays(_ asked: Duration?) async throws {
        var error = FeathersError(.tooManyRequests, "slow")
        error.retryAfter = asked
        let scene = try await OutboxApp(server: AnsweringServer(.error(error)))
        let queued = try await scene.messages.outbox.create(["n": 1])
        try await scene.live { _ in
            try await scene.clock.waitForSleepers(1)
            #expect(scene.outbox.state.entries.map(\.status) == [.retrying])
            scene.clock.advance(by: (asked ?? .seconds(1)) - .milliseconds(1))
            #expect(scene.outbox.state.entries.map(\.status) == [.retrying])
            scene.clock.advance(by: .milliseconds(1))
            _ = try await queued.result()
        }
        #expect(scene.server.requests.count == 2)
    }

    @Test("However long a server puts a write off, it is sent within the hour, and its entry says when")
    func endlessDelay() async throws {
        var error = FeathersError(.tooManyRequests, "slow")
        error.retryAfter = .seconds(1e9)
        let scene = try await OutboxApp(server: AnsweringServer(.error(error)))
        let queued = try await scene.messages.outbox.create(["n": 1])
        #expect(scene.outbox.state.entries.map(\.nextAttempt) == [nil])
        let before = Date()
        try await scene.live { _ in
            try await scene.clock.waitForSleepers(1)
            let next = try #require(scene.outbox.state.entries.first?.nextAttempt)
            #expect(next >= before + 3600)
            #expect(next <= Date() + 3600)
            scene.clock.advance(by: .seconds(3600))
            _ = try await queued.result()
        }
    }

    @Test("What was put off when the app's life ended is sent by its next life")
    func nextLife() async throws {
        let scene = try await OutboxApp(server: AnsweringServer(AnsweringServer.failing(.tooManyRequests)))
        let queued = try await scene.messages.outbox.create(["n": 1])
        _ = try await withFeathersApp(scene.app) { _ in
            try await scene.outbox.wait { $0.entries.first?.status == .retrying }
        }
        try await scene.live { _ in _ = try await queued.result() }
        #expect(scene.server.requests.count == 2)
    }

    @Test("What the app's end comes before is known not to be sent, also without keys")
    func endedBeforeSending() async throws {
        let folder = try OutboxFolder()
        let server = AnsweringServer()
        let outbox = try await Outbox(on: JournalWriter(folder.file), OutboxOptions())
        let app = FeathersApp(transport: StubTransport { request in try await server.answer(request) })
        try app.use(outbox: outbox)
        try await app.service("messages").outbox.create(["n": 1])
        let (began, held) = (Promise<Void>(), DispatchSemaphore(value: 0))
        async let holding: Void = outbox.journal.hold(began, until: held)
        try await began.value()
        let running = Task { try await app.run() }
        // The record that the attempt begins waits for the disk when the app ends.
        try await outbox.wait { $0.entries.first?.status == .sending }
        running.cancel()
        held.signal()
        await holding
        _ = try? await running.value
        #expect(server.requests.isEmpty)
        #expect(outbox.state.entries.map(\.status) == [.waiting])
        #expect(try folder.found().map(\.execution) == [.neverSent])
    }

    @Test("A full disk sends nothing that could not be noted, and refuses what is handed in")
    func fullDisk() async throws {
        let folder = try OutboxFolder()
        let clock = ManualClock()
        let server = AnsweringServer()
        let outbox = try await Outbox(on: JournalWriter(folder.file), OutboxOptions { $0.clock = clock })
        let app = FeathersApp(transport: StubTransport { request in try await server.answer(request) })
        try app.use(outbox: outbox)
        let queued = try await app.service("messages").outbox.create(["n": 1])
        try await outbox.journal.refuseWrites(true)
        await #expect { try await app.service("messages").outbox.create(["n": 2]) } throws: {
            "\($0)".contains("'\(folder.file.path)' cannot be written")
        }
        try await withFeathersApp(app) { _ in
            try await clock.waitForSleepers(1)
            #expect(server.requests.isEmpty)
            try await outbox.journal.refuseWrites(false)
            clock.advance(by: .seconds(60))
            _ = try await queued.result()
        }
        #expect(server.requests.count == 1)
    }

    @Test("An end that the disk does not take is an end all the same, and written with the next record")
    func owedEnd() async throws {
        let folder = try OutboxFolder()
        let gate = Promise<Void>()
        let transport = StubTransport { request in
            if request.data?["n"] == 1 { try await gate.value() }
            return request.record
        }
        let outbox = try await Outbox(on: JournalWriter(folder.file), OutboxOptions())
        let app = FeathersApp(transport: transport)
        try app.use(outbox: outbox)
        let first = try await app.service("messages").outbox.create(["n": 1])
        try await withFeathersApp(app) { _ in
            try await transport.waitForRequest(number: 1)
            try await outbox.journal.refuseWrites(true)
            gate.resolve(())
            _ = try await first.result()
            #expect(outbox.state.entries.isEmpty)
        }
        // A process that died now would leave a write that may have been executed.
        let left = try folder.found()
        #expect(left.map(\.write) == [first.write] && left.first?.execution == .mayHaveExecuted)
        try await outbox.journal.refuseWrites(false)
        let second = try await app.service("messages").outbox.create(["n": 2])
        #expect(
            try folder.found().map(\.write) == [second.write])
    }

    @Test("The states begin with the present one and end up with what has become")
    func states() async throws {
        let gate = Promise<Void>()
        let scene = try await OutboxApp(server: AnsweringServer(.held(gate), AnsweringServer.failing(.conflict)))
        var states = scene.outbox.stateUpdates().makeAsyncIterator()
        #expect(await states.next()?.activity == .stopped)
        let queued = try await scene.messages.outbox.patch(1, with: ["n": 1])
        #expect(await states.next()?.entries.map(\.write) == [queued.write])
        try await scene.live { _ in
            try await scene.outbox.wait { $0.entries.first?.status == .sending && $0.entries.first?.attempts == 1 }
            gate.resolve(())
            _ = try await queued.result()
            try await scene.messages.outbox.patch(1, with: ["n": 2])
            let state = try await scene.outbox.wait { $0.entries.first?.status == .awaitingDecision }
            #expect(state.activity == .active && state.entries.first?.failure?.reason == .conflict)
        }
        #expect(scene.outbox.state.activity == .stopped)
    }

    @Test("A service with a model writes values of it and reads them back")
    func models() async throws {
        struct Message: Codable, Sendable, Equatable {
            var id: Int?
            var text: String
        }
        let scene = try await OutboxApp()
        let messages = scene.app.service("messages", of: Message.self)
        let created = try await messages.outbox.create(Message(id: 1, text: "Hi"))
        let patched = try await messages.outbox.patch(1, with: ["text": "Ho"] as [String: String])
        try await scene.live { _ in
            let (first, second) = (try await created.result(), try await patched.result())
            #expect(first == Message(id: 1, text: "Hi") && second == Message(id: 1, text: "Ho"))
        }
    }
}
