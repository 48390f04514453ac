import Feathers
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("Calls that are to come later", .timeLimit(.minutes(10)), .inTurn, .enabled(if: !TestBackend.isSkipped))
struct RetryAfterCallTests {
    private static let busy =
        #"{"name":"TooManyRequests","message":"Slow down","code":429,"className":"too-many-requests"}"#
    private static let json = ["Content-Type", "application/json"]

    private static func refusal(_ status: Int = 429, retryAfter: String?, body: String = busy) -> ScriptedResponse {
        ScriptedResponse(
            status: status, headers: [json] + (retryAfter.map { [["Retry-After", $0]] } ?? []), body: body)
    }

    private static let success = ScriptedResponse(headers: [json], body: #"{"id":1}"#)

    @Test(
        "The error knows how long the server asks to wait",
        arguments: [("120", 120), ("Fri, 31 Dec 1999 23:59:59 GMT", 0), (nil, nil)] as [(String?, Int?)])
    func visible(retryAfter: String?, seconds: Int?) async throws {
        let script = try await ServerScript(Self.refusal(retryAfter: retryAfter))
        let messages = FeathersApp(transport: .rest(script.url)).service("messages")
        await #expect {
            try await messages.find()
        } throws: {
            FeathersError.Code.tooManyRequests ~= $0
                && ($0 as? FeathersError)?.retryAfter == seconds.map { .seconds($0) }
        }
    }

    @Test("A read is made again after the time the server asks for", arguments: [429, 503])
    func reads(status: Int) async throws {
        let script = try await ServerScript(Self.refusal(status, retryAfter: "7", body: ""), Self.success)
        let clock = ManualClock()
        let app = FeathersApp(transport: .rest(script.url))
        app.use(hooks: .retrying(attempts: 2, pause: .milliseconds(100), clock: clock))
        async let found = app.service("messages").get(1)
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(6999))
        #expect(try await script.requests().count == 1)
        clock.advance(by: .milliseconds(101))
        #expect(try await found["id"] == 1)
        #expect(try await script.requests(count: 2).count == 2)
    }

    @Test("A write that was answered is made again only where that is asked for", arguments: [false, true])
    func writes(isAskedFor: Bool) async throws {
        let script = try await ServerScript(Self.refusal(retryAfter: "0"), Self.success)
        let app = FeathersApp(transport: .rest(script.url))
        app.use(hooks: .retrying(pause: .milliseconds(1), refusedWrites: isAskedFor))
        let outcome = await Result { try await app.service("messages").create(["text": "Hi"]) }
        #expect((try? outcome.get()) == (isAskedFor ? ["id": 1] : nil))
        #expect(try await script.requests().count == (isAskedFor ? 2 : 1))
    }

    @Test(
        "Nobody waits for longer than the call may take, or than is worth it",
        arguments: [("30", 20), ("31", nil)] as [(String, Int?)])
    func bounded(retryAfter: String, timeout: Int?) async throws {
        let script = try await ServerScript(Self.refusal(retryAfter: retryAfter), Self.success)
        let app = FeathersApp(transport: .rest(script.url))
        app.use(hooks: .retrying(clock: ManualClock()))
        await #expect {
            try await app.service("messages").find(params: Params(timeout: timeout.map { .seconds($0) }))
        } throws: { ($0 as? FeathersError)?.retryAfter == .seconds(Int(retryAfter) ?? 0) }
    }

    @Test("What is left of a call's time is its time after the pause")
    func timeLeft() async throws {
        let clock = ManualClock()
        let transport = StubTransport()
        transport.stub(
            .find, with: .cycle([.error(FeathersError(.unavailable, "Busy")), .value("there")]))
        let app = FeathersApp(transport: transport)
        app.use(hooks: .retrying(pause: .seconds(4), clock: clock))
        async let found = app.service("messages").rawFind(params: Params(timeout: .seconds(10)))
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(4))
        #expect(try await found == "there")
        #expect(transport.requests.map(\.params.timeout) == [.seconds(10), .seconds(6)])
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
