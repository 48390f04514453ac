import FeathersCore
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

@Suite(
    "Calls to a FeathersJS backend over Socket.IO", .inTurn, .enabled(if: !TestBackend.isSkipped),
    .timeLimit(.minutes(10)))
struct BackendCallTests {
    @Test("reach every method and come back with its result", arguments: Way.allCases)
    func methods(way: Way) async throws {
        try await BackendConnection.with(way) { backend async throws in
            let tag = JSONValue.string(UUID().uuidString)
            let created = try await backend.call("messages", .create, data: ["text": "Zürich 😀", "tag": tag])
            #expect(created["text"] == "Zürich 😀")
            let id = try #require(created["id"].flatMap { ServiceID($0) })
            #expect(try await backend.call("messages", .get, id: id) == created)
            let replaced = try await backend.call("messages", .update, id: id, data: ["text": "b", "tag": tag])
            #expect(replaced == ["text": "b", "tag": tag, "id": id.json])
            #expect(
                try await backend.call("messages", .patch, id: id, data: ["n": 9_007_199_254_740_991])["n"]
                    == 9_007_199_254_740_991)
            #expect(
                try await backend.call("messages", "archive", data: ["id": id.json])["archived"]?["archived"] == true)
            let mine: Query<JSONValue> = ["tag": tag]
            #expect(try await backend.call("messages", .create, data: [["tag": tag], ["tag": tag]]).array?.count == 2)
            #expect(try await backend.call("messages", .find, query: mine)["total"] == 3)
            #expect(try await backend.call("messages", .patch, data: ["all": true], query: mine).array?.count == 3)
            #expect(try await backend.call("messages", .remove, id: id)["all"] == true)
            #expect(try await backend.call("messages", .remove, query: mine).array?.count == 2)
            #expect(try await backend.call("httpmeta", .get, id: "null") == .null)
            #expect(try await backend.call("httpmeta", .get, id: "false") == false)
        }
    }

    @Test("fill in route parameters")
    func routes() async throws {
        try await BackendConnection.with(.webSocket) { backend async throws in
            let request = ServiceRequest(
                path: "teams/:teamId/members", method: .find, params: Params(route: ["teamId": "red"]))
            #expect(try await backend.transport.send(request).result["route"] == ["teamId": "red"])
        }
    }

    @Test("come back with the server's errors", arguments: [Way.webSocket, .polling])
    func errors(way: Way) async throws {
        try await BackendConnection.with(way) { backend async throws in
            for (code, name, className) in FeathersError.Code.classes {
                let error = await backend.failure { try await backend.call("errors", .get, id: ServiceID(name)) }
                #expect(error?.code == code && error?.name == name && error?.className == className)
                #expect(error?.message == "\(name) message" && error?.errors?["email"] == "Email is taken")
                #expect(error?.data?["resource"] == "thing" && error?.execution == .answered)
            }
            let plain = await backend.failure { try await backend.call("errors", .get, id: "Error") }
            #expect(plain?.message == "This is a plain error" && plain?.code == .generalError)
            #expect(await backend.failure { try await backend.call("nope", .find) }?.code == .notFound)
            #expect(
                await backend.failure { try await backend.call("slow", .create, data: [:]) }?.code == .methodNotAllowed)
        }
    }

    @Test("go side by side, 64 at once", arguments: Way.allCases)
    func concurrency(way: Way) async throws {
        try await BackendConnection.with(way) { backend async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        let answer = try await backend.call("slow", .get, id: ServiceID(100 + number))
                        #expect(answer["id"] == .integer(Int64(100 + number)))
                    }
                }
                try await group.waitForAll()
            }
            #expect(backend.transport.pendingCallCount == 0)
        }
    }

    @Test("may be long in both directions, and no longer than the server accepts", arguments: Way.allCases)
    func long(way: Way) async throws {
        try await BackendConnection.with(way) { backend async throws in
            #expect(try await backend.call("big", .get, id: 900_000).string?.utf8.count == 900_000)
            let text = String(repeating: "aé€😀", count: 60_000)
            #expect(try await backend.call("big", .create, data: ["text": .string(text)])["bytes"] == 600_000)
            let error = await backend.failure {
                try await backend.call(
                    "big", .create, data: ["text": .string(String(repeating: "x", count: 1_100_000))])
            }
            #expect(error?.code == 413 && error?.execution == .neverSent)
            #expect(try await backend.call("slow", .get, id: 1)["id"] == 1)
        }
    }

    @Test("that nobody answers end at their deadline", arguments: [Way.webSocket, .polling])
    func unanswered(way: Way) async throws {
        try await BackendConnection.with(way) { backend async throws in
            let error = await backend.failure {
                try await backend.call("messages", "unheardOf", data: [:], timeout: .milliseconds(200))
            }
            #expect(error?.code == .timeout && error?.execution == .mayHaveExecuted)
            #expect(backend.transport.pendingCallCount == 0)
        }
    }

    @Test("that are cancelled leave the connection alone")
    func cancelled() async throws {
        try await BackendConnection.with(.webSocket) { backend async throws in
            let call = await SettlingExecutor().start { try await backend.call("slow", .get, id: 60_000) }
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
            #expect(try await backend.call("slow", .get, id: 1)["id"] == 1)
            #expect(backend.transport.pendingCallCount == 0)
        }
    }
}
