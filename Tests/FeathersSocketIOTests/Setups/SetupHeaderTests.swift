import FeathersCore
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSocketIO

@Suite("The headers plugins add to the opening of a connection", .timeLimit(.minutes(10)))
struct SetupHeaderTests {
    /// Polling that fails, after its request was handed to the test.
    private struct Refusing: HTTPClient {
        let requests = Mailbox<HTTPRequest>()

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            requests.put(request)
            throw HTTPClientError(.cannotConnect, "no")
        }
    }

    @Test("are made for every attempt anew; the application's own win, then the plugin's that came first")
    func attempts() async throws {
        let attempts = Locked(0)
        let scene = try Scene { $0.headers = { ["Authorization": "own"] } }
        scene.transport.use(
            connectionSetup: ConnectionSetup(headers: {
                let attempt = attempts.withLock { count in
                    count += 1
                    return count
                }
                return ["authorization": "plugin", "X-Attempt": "\(attempt)", "X-Plugin": "first"]
            }))
        scene.transport.use(connectionSetup: ConnectionSetup(headers: { ["x-plugin": "second", "X-Other": "other"] }))
        try await scene.connected { scene, socket async throws in
            let headers = socket.request.headers
            #expect(headers["Authorization"] == "own" && headers["X-Attempt"] == "1")
            #expect(headers["X-Plugin"] == "first" && headers["X-Other"] == "other")
            #expect(headers.count == 4)
            socket.cut()
            await scene.status { if case .waiting = $0 { true } else { false } }
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(1))
            let next = try await scene.sockets.opened.next()
            #expect(next.request.headers["X-Attempt"] == "2")
        }
    }

    @Test("go with polling too")
    func polling() async throws {
        let client = Refusing()
        let scene = try Scene {
            $0.transports = [.polling]
            $0.httpClient = client
        }
        scene.transport.use(connectionSetup: ConnectionSetup(headers: { ["Authorization": "plugin"] }))
        await #expect(throws: FeathersError.self) { try await scene.transport.connect() }
        #expect(try await client.requests.next().headers["Authorization"] == "plugin")
    }

    @Test("that cannot be made, or sent, fail the attempt without telling what they were")
    func failing() async throws {
        struct Secret: Error { let token = "secret" }
        let scene = try Scene()
        scene.transport.use(connectionSetup: ConnectionSetup(headers: { throw Secret() }))
        let error = try await #require(throws: FeathersError.self) { try await scene.transport.connect() }
        #expect(error.code == .unavailable && error.message.contains("Secret") && !error.message.contains("token"))
        let other = try Scene()
        other.transport.use(connectionSetup: ConnectionSetup(headers: { ["X": "secret\n"] }))
        let invalid = try await #require(throws: FeathersError.self) { try await other.transport.connect() }
        #expect(invalid.code == .badRequest && invalid.message.contains("X") && !invalid.message.contains("secret"))
    }
}
