import FeathersCore
import FeathersNetworking
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

@Suite("The upgrade of a polling session by the backend", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct BackendUpgradeTests {
    @Test("ends every poll with a noop from the probe on, those that come after it too, so that the client can go over")
    func polls() async throws {
        // Within one heartbeat, whose packets would come between.
        try await MachineLoad.settles()
        let client = PlatformHTTPClient.make()
        let address = try EngineAddress(try await TestBackend.url(), path: "/socket.io/")
        let requests = PollingRequests(address: address, headers: HTTPHeaders(), client: client, limit: 1 << 20)
        guard case .open(let text)? = try await requests.poll(sid: nil, timeout: nil).first else { throw CancellationError() }
        let sid = try EngineHandshake(parsing: text).sid
        let connector = PlatformWebSocketConnector.make()
        let request = WebSocketRequest(url: try address.url(transport: "websocket", sid: sid))
        let webSocket = WebSocketEngineConnection.start(try await connector.connect(request))
        async let waiting = requests.poll(sid: sid, timeout: .seconds(30))
        try webSocket.sendNow([EnginePacket.ping("probe").frame])
        #expect(try await webSocket.nextPacket() == .pong("probe"))
        #expect(try await waiting == [.noop])
        for _ in 0..<3 { #expect(try await requests.poll(sid: sid, timeout: .seconds(5)) == [.noop]) }
        webSocket.close()
    }
}
