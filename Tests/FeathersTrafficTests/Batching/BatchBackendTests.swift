import Feathers
import Foundation
import TestBackend
import Testing

@Suite("Batches on the test backend", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct BatchBackendTests {
    @Test("Each call has its own result or error, over both transports", arguments: [true, false])
    func calls(isRealTime: Bool) async throws {
        let url = try await TestBackend.url()
        let app = FeathersApp(transport: isRealTime ? .socketIO(url) : .rest(url))
        // The window is long, the limit ends it.
        app.use(hooks: .batching(over: "batch", methods: [.find, .get, .create, .patch, .remove], window: .seconds(60), limit: 5))
        if isRealTime { try await app.connect() }
        let text = JSONValue.string(UUID().uuidString)
        let outcomes = await withTaskGroup(of: (Int, Result<JSONValue, any Error>).self) { group in
            let calls: [@Sendable () async throws -> JSONValue] = [
                { try await app.service("echo").find(.where("a", .isIn([1, 2]))) },
                { try await app.service("echo").get(7, query: .selecting("id")) },
                { try await app.service("errors").get("Conflict") },
                { try await app.service("messages").create(["text": text]) },
                { try await app.service("teams/:teamId/members").find(params: Params(route: ["teamId": "a b"])) },
            ]
            for (number, call) in calls.enumerated() {
                group.addTask {
                    do { return (number, .success(try await call())) } catch { return (number, .failure(error)) }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(try outcomes[0]?.get()["query"] == ["a": ["$in": [1, 2]]])
        #expect(try outcomes[1]?.get()["id"] == 7)
        #expect(try outcomes[3]?.get()["text"] == text)
        #expect(try outcomes[4]?.get()["route"]?["teamId"]?.string?.contains("a") == true)
        #expect { try outcomes[2]?.get() } throws: { error in
            FeathersError.Code.conflict ~= error && (error as? FeathersError)?.errors?["email"] == "Email is taken"
        }
        await app.disconnect()
    }
}
