import FeathersCore
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

@Suite(
    "Events of a FeathersJS backend over Socket.IO", .inTurn, .enabled(if: !TestBackend.isSkipped),
    .timeLimit(.minutes(10)))
struct BackendEventTests {
    /// A server of one's own hears of nobody else's events.
    private let backend = TestBackend(variables: [:])

    @Test("come before the answer to the call that caused them, in order", arguments: Way.allCases)
    func order(way: Way) async throws {
        try await BackendConnection.with(way, on: backend) { backend async throws in
            let created = try await backend.call("todos", .create, data: [["n": 1], ["n": 2], ["n": 3]]).array ?? []
            #expect(created.count == 3)
            #expect(backend.deliveries.waiting == created.map { .event("todos", .created, $0) })
        }
    }

    @Test("may be the service's own")
    func custom() async throws {
        try await BackendConnection.with(.webSocket, on: backend) { backend async throws in
            #expect(try await backend.call("messages", "notifyTyping", data: ["who": "alice"]) == ["sent": true])
            #expect(backend.deliveries.waiting == [.event("messages", "typing", ["who": "alice"])])
        }
    }

    @Test("come from other clients too, and as a flood", arguments: Way.allCases)
    func flood(way: Way) async throws {
        try await BackendConnection.with(way, on: backend) { receiver async throws in
            try await BackendConnection.with(.webSocket, on: backend) { sender async throws in
                _ = try await sender.call(
                    "control", .create, data: ["op": "burst", "n": 2_000, "service": "todos"], timeout: .seconds(30))
            }
            for _ in 0..<2_000 {
                guard case .event("todos", _, _) = try await receiver.deliveries.next() else {
                    Issue.record("Something else came")
                    return
                }
            }
        }
    }
}
