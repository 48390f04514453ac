import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

@Suite("A response to a queued write", .timeLimit(.minutes(5)))
struct OutboxResponseTests {
    /// A write, and its right response.
    struct Write: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let right: JSONValue
        let queue: @Sendable (Service<JSONValue>) async throws -> QueuedWrite<JSONValue>
    }

    static let writes: [Write] = [
        Write(testDescription: "create", right: ["id": 1, "text": "a"]) { try await $0.outbox.create(["text": "a"]) },
        Write(testDescription: "create of several", right: [["id": 1], ["id": 2]]) {
            try await $0.outbox.create([["text": "a"], ["text": "b"]] as JSONValue)
        },
        Write(testDescription: "update", right: ["id": 1]) { try await $0.outbox.update(1, with: ["text": "a"]) },
        Write(testDescription: "patch", right: ["_id": "x"]) { try await $0.outbox.patch("x", with: ["text": "a"]) },
        Write(testDescription: "remove", right: ["id": 1]) { try await $0.outbox.remove(1) },
        Write(testDescription: "patch without a response", right: nil) {
            try await $0.outbox.patch(1, with: ["text": "a"])
        },
    ]

    static let strange: [JSONValue] = [
        ["login": "now"], [], [:], "text", 7, true, ["id": nil], ["id": [:]], ["data": ["id": 1]], [["id": 1]],
        [["id": 1], ["login": "now"]],
    ]

    private func app(_ isKeyed: Bool, _ answers: [JSONValue]) async throws -> (app: OutboxApp, stub: StubTransport) {
        let scene = try await OutboxApp { options in
            options.isKeyed = isKeyed
            options.keyPlaces = [.query("key")]
        }
        scene.app.servicesWithOtherResponses = []
        scene.transport.stub(where: { _ in true }, with: .cycle(answers.map { .value($0) }))
        return (scene, scene.transport)
    }

    @Test("of another shape says nothing, so a keyed write is sent again", arguments: writes, strange)
    func keyed(write: Write, strange: JSONValue) async throws {
        let (scene, stub) = try await app(true, [strange, write.right])
        try await scene.live { app in
            let queued = try await write.queue(app.service("notes"))
            try await stub.waitForOutcome(number: 1)
            try await scene.outbox.wait { $0.activity == .unreachable }
            #expect(scene.outbox.state.entries.count == 1)
            scene.clock.advance(by: .seconds(60))
            #expect(try await queued.result() == write.right)
            #expect(stub.requests.count == 2)
        }
    }

    @Test("of another shape says nothing, so a write without a key asks", arguments: writes)
    func unkeyed(write: Write) async throws {
        let (scene, _) = try await app(false, [["login": "now"], write.right])
        try await scene.live { app in
            let queued = try await write.queue(app.service("notes"))
            let state = try await scene.outbox.wait { $0.entries.first?.failure != nil }
            let failure = state.entries.first?.failure
            #expect(failure?.reason == .unknown && failure?.mayHaveExecuted == true)
            #expect(failure?.error.code == .unavailable && failure?.error.execution == .mayHaveExecuted)
            #expect(failure?.error.message.contains("'notes' is not a record with 'id'") == true)
            #expect(failure?.error.message.contains("now") == false)
            try await scene.outbox.decide(.retry, for: queued.id)
            #expect(try await queued.result() == write.right)
        }
    }

    @Test("is taken as it is from a service that is declared to respond otherwise", arguments: strange)
    func declared(strange: JSONValue) async throws {
        let (scene, stub) = try await app(true, [strange])
        scene.app.servicesWithOtherResponses = ["/notes/"]
        try await scene.live { app in
            let queued = try await app.service("notes").outbox.create(["text": "a"])
            #expect(try await queued.result() == strange)
            #expect(stub.requests.count == 1)
        }
    }

    @Test("to a custom method, and to a direct call, is what came", arguments: strange)
    func others(strange: JSONValue) async throws {
        let (scene, _) = try await app(true, [strange])
        try await scene.live { app in
            let queued = try await app.service("notes").outbox.call("archive")
            let (archived, created) = (try await queued.result(), try await app.service("notes").create(["text": "a"]))
            #expect(archived == strange && created == strange)
        }
    }
}
