import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSocketIO

@Suite("What goes on beside a connection", .timeLimit(.minutes(10)))
struct AccompanimentTests {
    @Test("begins when it is prepared, makes calls, ends with it, and begins anew on the next")
    func whole() async throws {
        let scene = try Scene()
        let journal = Mailbox<String>()
        scene.transport.use(
            connectionSetup: ConnectionSetup(
                prepare: { _ in journal.put("prepared") },
                accompany: { send in
                    let result = try? await send(ServiceRequest(path: "m", method: .get, id: 7))
                    journal.put("answered \(result?.result ?? .null)")
                    try? await Promise<Void>().value()
                    journal.put("cancelled \(Task.isCancelled)")
                    let error = await scene.failure {
                        try await send(ServiceRequest(path: "m", method: .get, id: 8)).result
                    }
                    journal.put("refused \(error == nil)")
                }))
        let running = Task { try await scene.transport.run() }
        for attempt in 0..<2 {
            let socket = try await scene.sockets.opened.next()
            try await socket.accept()
            #expect(try await journal.next() == "prepared")
            #expect(try await socket.sent.next() == #"42\#(2 * attempt)["get","m",7,{}]"#)
            #expect(scene.transport.status == .connected(recovered: false))
            socket.deliver("43\(2 * attempt)[null,1]")
            #expect(try await journal.next() == "answered 1")
            async let own = scene.get(1)
            #expect(try await socket.sent.next() == #"42\#(2 * attempt + 1)["get","m",1,{}]"#)
            socket.deliver("43\(2 * attempt + 1)[null,1]")
            #expect(try await own == 1)
            socket.cut()
            #expect(try await journal.next() == "cancelled true")
            #expect(try await journal.next() == "refused true")
            await scene.status { if case .waiting = $0 { true } else { false } }
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(2))
        }
        await scene.transport.disconnect()
        try await running.value
    }

    @Test("may end early, and the connection stays")
    func short() async throws {
        let scene = try Scene()
        let ended = Promise<Void>()
        scene.transport.use(connectionSetup: ConnectionSetup(accompany: { _ in ended.resolve(()) }))
        try await scene.connected { scene, socket async throws in
            try await ended.value()
            async let call = scene.get(1)
            #expect(try await socket.sent.next() == #"420["get","m",1,{}]"#)
            socket.deliver("430[null,1]")
            #expect(try await call == 1)
        }
    }
}
