import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSocketIO

@Suite("Connecting again after an end that is final", .timeLimit(.minutes(10)))
struct InsistenceTests {
    private static let refusal = #"44{"message":"no"}"#

    /// A setup that answers as told, and hands over what it was asked.
    private func answering(_ answer: Bool, _ asked: Mailbox<DisconnectReason>) -> ConnectionSetup {
        ConnectionSetup(reconnects: { reason in
            asked.put(reason)
            return answer
        })
    }

    /// The server refuses the connection that is opened next.
    private func refuse(_ scene: Scene) async throws {
        let socket = try await scene.sockets.opened.next()
        socket.open()
        _ = try await socket.sent.next()
        socket.deliver(Self.refusal)
    }

    private func waitOut(_ attempt: Int, _ delay: Int, _ scene: Scene) async throws {
        await scene.status { if case .waiting(attempt, .seconds(delay), _) = $0 { true } else { false } }
        // The good-bye's time may still sleep beside the attempt's.
        try await scene.clock.waitForSleepers(1)
        scene.clock.advance(by: .seconds(delay))
    }

    @Test("happens where any plugin wants it, at growing distances")
    func wanted() async throws {
        let scene = try Scene()
        let asked = Mailbox<DisconnectReason>()
        scene.transport.use(connectionSetup: answering(false, asked))
        scene.transport.use(connectionSetup: answering(true, asked))
        let running = Task { try await scene.transport.run() }
        for (attempt, delay) in [(1, 1), (2, 2), (3, 4)] {
            try await refuse(scene)
            #expect(try await asked.next() == .refused("no"))
            #expect(try await asked.next() == .refused("no"))
            try await waitOut(attempt, delay, scene)
        }
        try await scene.sockets.opened.next().accept()
        await scene.status { $0 == .connected(recovered: false) }
        await scene.transport.disconnect()
        try await running.value
    }

    @Test("does not happen where no plugin wants it")
    func unwanted() async throws {
        let scene = try Scene()
        let asked = Mailbox<DisconnectReason>()
        scene.transport.use(connectionSetup: answering(false, asked))
        let running = Task { try await scene.transport.run() }
        try await refuse(scene)
        await #expect(throws: FeathersError.self) { try await running.value }
        #expect(scene.transport.status == .closed(.refused("no")))
        #expect(asked.waiting == [.refused("no")])
    }

    @Test("is nobody's question after any other end, nor where the policy goes on anyway")
    func unasked() async throws {
        let scene = try Scene { $0.reconnection.retriesAfterRefusal = true }
        let asked = Mailbox<DisconnectReason>()
        scene.transport.use(connectionSetup: answering(true, asked))
        let running = Task { try await scene.transport.run() }
        try await refuse(scene)
        try await waitOut(1, 1, scene)
        try await scene.sockets.opened.next().cut()
        try await waitOut(2, 2, scene)
        try await scene.sockets.opened.next().accept()
        await scene.status { $0 == .connected(recovered: false) }
        await scene.transport.disconnect()
        try await running.value
        #expect(asked.waiting.isEmpty)
    }

    @Test("stops at as many attempts as the policy allows")
    func budget() async throws {
        let scene = try Scene { $0.reconnection.maximumAttempts = 1 }
        scene.transport.use(connectionSetup: answering(true, Mailbox()))
        let running = Task { try await scene.transport.run() }
        try await refuse(scene)
        try await waitOut(1, 1, scene)
        try await refuse(scene)
        let error = try await #require(throws: FeathersError.self) { try await running.value }
        #expect(error.message == "no")
        #expect(scene.transport.status == .closed(.attemptsExhausted))
    }

    @Test("gives connect one further attempt at the first", arguments: [true, false])
    func connect(accepts: Bool) async throws {
        let scene = try Scene()
        let asked = Mailbox<DisconnectReason>()
        scene.transport.use(connectionSetup: answering(true, asked))
        async let connecting = scene.failure {
            try await scene.transport.connect()
            return .null
        }
        try await refuse(scene)
        try await waitOut(1, 1, scene)
        if accepts {
            try await scene.sockets.opened.next().accept()
        } else {
            try await refuse(scene)
        }
        #expect(await connecting?.code == (accepts ? nil : .forbidden))
        #expect(asked.waiting == [.refused("no")])
        #expect(scene.transport.status == (accepts ? .connected(recovered: false) : .closed(.refused("no"))))
        await scene.transport.disconnect()
    }

    @Test("is no question any more once nobody wants a connection")
    func stopped() async throws {
        let scene = try Scene()
        let asked = Promise<Void>()
        scene.transport.use(
            connectionSetup: ConnectionSetup(reconnects: { _ in
                asked.resolve(())
                try? await Promise<Void>().value()
                return true
            }))
        let running = Task { try await scene.transport.run() }
        try await refuse(scene)
        try await asked.value()
        await scene.transport.disconnect()
        try await running.value
        #expect(scene.transport.status == .offline)
    }
}
