import Feathers
import Foundation
import TestBackend
import Testing

@Suite("A mixed transport on the test backend", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct MixedBackendTests {
    @Test("While the connection is cut reads go on over REST, then calls and events go over the connection again")
    func cut() async throws {
        let url = try await TestBackend.url()
        let proxy = try await FaultProxy(to: url)
        let socket = SocketIOTransport.socketIO(proxy.url) {
            $0.transports = [.webSocket]
            $0.reconnection.initialDelay = .milliseconds(20)
            $0.reconnection.maximumDelay = .milliseconds(100)
        }
        let app = FeathersApp(transport: .mixed(realTime: socket, rest: .rest(url)))
        try await app.connect()
        let room = JSONValue.string(UUID().uuidString)
        let messages = app.service("messages")
        let echo = app.service("echo")
        #expect(try await provider(of: echo) == "socketio")

        try await proxy.refuse()
        // Under way when the connection goes: asked again over REST.
        let sent = try await proxy.counters().toServer
        async let slow = app.service("slow").get(1500)
        try await proxy.counters(toServer: sent + 20)
        try await proxy.cut()
        #expect(try await slow["id"] != nil)
        for _ in 0..<10 { #expect(try await provider(of: echo) == "rest") }

        let created = messages.events(.created)
        async let message = messages.create(["text": "Hi", "room": room], params: Params(timeout: .seconds(60)))
        try await proxy.accept()
        #expect(try await message["room"] == room)
        for await event in created where event["room"] == room { break }
        #expect(try await provider(of: echo) == "socketio")
        await app.disconnect()
        try await proxy.close()
    }

    @Test("With the server away for both, a read fails with what REST says")
    func down() async throws {
        let url = try await TestBackend.url()
        let proxy = try await FaultProxy(to: url)
        let app = FeathersApp(transport: .mixed(realTime: .socketIO(proxy.url), rest: .rest(proxy.url)))
        try await app.connect()
        try await proxy.refuse()
        try await proxy.cut()
        var updates = app.connectionStatusUpdates().makeAsyncIterator()
        while case .connected? = await updates.next() {}
        await #expect {
            try await app.service("messages").find()
        } throws: {
            FeathersError.Code.unavailable ~= $0 && ($0 as? FeathersError)?.execution == .neverSent
        }
        await app.disconnect()
        try await proxy.close()
    }

    private func provider(of echo: Service<JSONValue>) async throws -> JSONValue? {
        try await echo.get(1)["provider"]
    }
}
