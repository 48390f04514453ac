import FeathersCore
import FeathersNetworking
import FeathersSupport
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

@Suite(
    "The connection to a FeathersJS backend", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct BackendLossTests {
    @Test("comes back after it was cut, with a gap, and calls fail that were under way", arguments: Way.allCases)
    func killed(way: Way) async throws {
        try await BackendConnection.with(way, on: TestBackend(variables: [:])) { backend async throws in
            let underWay = await SettlingExecutor().start {
                await backend.failure { try await backend.call("slow", .get, id: 60_000) }
            }
            _ = await backend.failure { try await backend.call("control", .create, data: ["op": "kill"]) }
            let error = try await underWay.value
            #expect(error?.code == .unavailable && error?.execution == .mayHaveExecuted)
            #expect(try await backend.call("slow", .get, id: 1)["id"] == 1)
            #expect(try await backend.deliveries.next() == .gap)
        }
    }

    @Test("comes back after the server ended it, with a gap", arguments: Way.allCases)
    func ended(way: Way) async throws {
        try await BackendConnection.with(way, on: TestBackend(variables: [:])) { backend async throws in
            _ = await backend.failure {
                try await backend.call("control", .create, data: ["op": "disconnect", "close": true])
            }
            #expect(try await backend.call("slow", .get, id: 1)["id"] == 1)
            #expect(try await backend.deliveries.next() == .gap)
        }
    }

    @Test("lives on heartbeats", arguments: Way.allCases)
    func heartbeat(way: Way) async throws {
        try await MachineLoad.settles()
        // Longer than a session without heartbeats lives.
        let variables = ["PING_INTERVAL": "300", "PING_TIMEOUT": "3500"]
        try await BackendConnection.with(way, on: TestBackend(variables: variables)) { backend async throws in
            #expect(try await backend.call("slow", .get, id: 4_500)["id"] == 4_500)
            #expect(backend.deliveries.waiting.isEmpty)
        }
    }

    @Test("is refused with the server's words where its header is")
    func refused() async throws {
        let error = await #expect(throws: FeathersError.self) {
            try await BackendConnection.with(.webSocket) {
                $0.headers = { ["Authorization": "Bearer nonsense"] }
            } _: { _ async throws in
            }
        }
        #expect(error?.code == .forbidden && error?.message.isEmpty == false)
    }

    @Test("takes the next transport if the first one cannot be opened, in the order of the options")
    func order() async throws {
        let sockets = FakeWebSockets()
        sockets.fail(with: .init(.cannotConnect, "no"))
        try await BackendConnection.with(.polling) {
            $0.transports = [.webSocket, .polling]
            $0.webSocketConnector = sockets
        } _: { backend async throws in
            #expect(backend.isPolling)
            #expect(try await backend.call("slow", .get, id: 1)["id"] == 1)
        }
        try await BackendConnection.with(.webSocket) {
            $0.transports = [.polling, .webSocket]
            $0.httpClient = FailingHTTPClient()
        } _: { backend async throws in
            #expect(!backend.isPolling)
            #expect(try await backend.call("slow", .get, id: 1)["id"] == 1)
        }
    }

    @Test("stays on the transport that was opened first, and opens no other one beside it")
    func stays() async throws {
        let sockets = FakeWebSockets()
        try await BackendConnection.with(.polling) {
            $0.transports = [.polling, .webSocket]
            $0.webSocketConnector = sockets
        } _: { backend async throws in
            for number in 1...10 {
                #expect(try await backend.call("slow", .get, id: ServiceID(number))["id"] == .integer(Int64(number)))
            }
            #expect(backend.isPolling && sockets.opened.waiting.isEmpty)
        }
    }

    @Test("is not tried over another transport after the server has refused it", arguments: [Way.webSocket, .polling])
    func refusedOnce(way: Way) async throws {
        let sockets = FakeWebSockets()
        let error = await #expect(throws: FeathersError.self) {
            try await BackendConnection.with(way) {
                $0.transports = way == .polling ? [.polling, .webSocket] : [.webSocket, .polling]
                if way == .polling { $0.webSocketConnector = sockets } else { $0.httpClient = FailingHTTPClient() }
                $0.headers = { ["Authorization": "Bearer nonsense"] }
            } _: { _ async throws in
            }
        }
        #expect(error?.code == .forbidden && sockets.opened.waiting.isEmpty)
    }

    @Test("is at another path and namespace where told so")
    func path() async throws {
        try await BackendConnection.with(.polling, on: TestBackend(variables: ["IO_PATH": "/ws/live"])) {
            $0.path = "/ws/live"
        } _: { backend async throws in
            #expect(try await backend.call("slow", .get, id: 1)["id"] == 1)
        }
        let error = await #expect(throws: FeathersError.self) {
            try await BackendConnection.with(.webSocket) {
                $0.namespace = "/nope"
            } _: { _ async throws in
            }
        }
        #expect(error?.message == "Invalid namespace")
    }
}

/// A client whose every request fails.
private struct FailingHTTPClient: HTTPClient {
    func execute(_ request: HTTPRequest) async throws -> HTTPResponse { throw HTTPClientError(.cannotConnect, "no") }
}

extension BackendConnection {
    fileprivate var isPolling: Bool {
        transport.socketClient.state.withLock { $0.current?.connection.engine is PollingConnection }
    }
}
