import FeathersCore
import FeathersNetworking
import FeathersSupport
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

@Suite("The connection to a FeathersJS backend", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct BackendLossTests {
    @Test("comes back after it was cut, with a gap, and calls fail that were under way", arguments: Way.allCases)
    func killed(way: Way) async throws {
        try await BackendConnection.with(way, on: TestBackend(variables: [:])) { backend async throws in
            if way == .upgrade { try await upgraded(backend) }
            let underWay = await SettlingExecutor().start { await backend.failure { try await backend.call("slow", .get, id: 60_000) } }
            _ = await backend.failure { try await backend.call("control", .create, data: ["op": "kill"]) }
            let error = try await underWay.value
            #expect(error?.code == .unavailable && error?.execution == .mayHaveExecuted)
            #expect(try await backend.call("slow", .get, id: 1)["id"] == 1)
            #expect(try await backend.deliveries.next() == .gap)
        }
    }

    @Test("stays away after the server ended it", arguments: Way.allCases)
    func ended(way: Way) async throws {
        try await BackendConnection.with(way, on: TestBackend(variables: [:])) { backend async throws in
            _ = await backend.failure { try await backend.call("control", .create, data: ["op": "disconnect", "close": true]) }
            for await status in backend.transport.statusUpdates() {
                if case .closed(let reason) = status {
                    #expect(reason == .serverDisconnect)
                    break
                }
            }
            #expect(await backend.failure { try await backend.call("slow", .get, id: 1) }?.code == .unavailable)
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

    @Test("moves from polling to a WebSocket with calls under way")
    func upgrade() async throws {
        try await BackendConnection.with(.upgrade) { backend async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...40 {
                    group.addTask {
                        let answer = try await backend.call("slow", .get, id: ServiceID(number))
                        #expect(answer["id"] == .integer(Int64(number)))
                    }
                }
                try await group.waitForAll()
            }
            try await upgraded(backend)
            #expect(try await backend.call("slow", .get, id: 1)["id"] == 1)
        }
    }

    @Test("moves however the answers to poll and probe cross")
    func upgradesCrossing() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for number in 1...10 {
                        try await BackendConnection.with(.upgrade) { backend async throws in
                            let answer = try await backend.call("slow", .get, id: ServiceID(number))
                            #expect(answer["id"] == .integer(Int64(number)))
                        }
                    }
                }
            }
            try await group.waitForAll()
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

    @Test("falls back to polling where no WebSocket can be opened")
    func fallback() async throws {
        let sockets = FakeWebSockets()
        sockets.fail(with: .init(.cannotConnect, "no"))
        try await BackendConnection.with(.polling) {
            $0.transports = [.webSocket, .polling]
            $0.webSocketConnector = sockets
        } _: { backend async throws in
            #expect(try await backend.call("slow", .get, id: 1)["id"] == 1)
        }
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

    private func upgraded(_ backend: BackendConnection) async throws {
        let connection = backend.transport.client.state.withLock { $0.current?.connection.engine as? UpgradingConnection }
        let upgrading = try #require(connection)
        while !upgrading.isUpgraded { _ = try await backend.call("slow", .get, id: 1) }
    }
}
