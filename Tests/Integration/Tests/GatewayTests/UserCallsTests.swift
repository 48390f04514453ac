import Feathers
import FeathersTesting
import Hummingbird
import Testing

@testable import Gateway

@Suite("The calls of a gateway", .timeLimit(.minutes(5)))
struct UserCallsTests {
    @Test("are made as the user of each request, over REST")
    func users() async throws {
        let stand = try Stand()
        stand.rest.stub("messages", .get, with: .value(["id": 7, "text": "Hi"]))
        stand.rest.stub("messages", .create, with: ServiceStub { $0.data ?? .null })
        try await stand.run { browser, _ in
            let read = try await browser.send("GET", "/messages/7", token: "alice")
            #expect(read.status == 200 && read.text.contains(#""text":"Hi""#))
            let written = try await browser.send("POST", "/messages", token: "bob", json: #"{"text":"Hello"}"#)
            #expect(written.status == 201 && written.text == #"{"text":"Hello"}"#)
        }
        #expect(stand.rest.requests.map(\.method) == [.get, .create])
        #expect(stand.rest.requests.map { $0.params.headers["Authorization"] } == ["Bearer alice", "Bearer bob"])
        #expect(stand.connection.requests.isEmpty)
    }

    @Test("are not made without a token", arguments: [[:], ["Authorization": "Basic YTpi"]])
    func noToken(_ fields: [String: String]) async throws {
        let stand = try Stand()
        try await stand.run { browser, _ in
            let response = try await browser.send("GET", "/messages/7", fields: fields)
            #expect(response.status == 401 && response.text.contains("NotAuthenticated"))
        }
        #expect(stand.rest.requests.isEmpty)
    }

    @Test("respond with the HTTP status of their error, and without the names of servers")
    func errors() async throws {
        let cases: [(error: FeathersError, status: Int, part: String)] = [
            (FeathersError(.notFound, "No record"), 404, "No record"),
            (FeathersError(.unprocessable, "Too long", errors: ["text": "at most 100"]), 422, "at most 100"),
            (FeathersError(.generalError, "Broken"), 500, "Broken"),
            (FeathersError(1001, "Made up"), 500, "Made up"),
            (FeathersError(.unavailable, "10.0.0.7 refused", execution: .neverSent), 503, "did not respond"),
            (FeathersError(.timeout, "10.0.0.7 is slow", execution: .mayHaveExecuted), 504, "did not respond"),
        ]
        let stand = try Stand()
        try await stand.run { browser, _ in
            for (error, status, part) in cases {
                stand.rest.stub("messages", .get, with: .error(error))
                let response = try await browser.send("GET", "/messages/7", token: "alice")
                #expect(response.status == status && response.text.contains(part))
                #expect(!response.text.contains("10.0.0.7"))
                if status > 500 { #expect(response.text.contains(#""code":\#(status)"#)) }
            }
        }
    }

    @Test("have a deadline, and are not made with a body that is too large")
    func bounds() async throws {
        let stand = try Stand()
        stand.rest.stub("messages", .create, with: ServiceStub { $0.data ?? .null })
        try await stand.run { browser, _ in
            let text = String(repeating: "a", count: 100_000)
            let large = try await browser.send("POST", "/messages", token: "bob", json: #"{"text":"\#(text)"}"#)
            #expect(large.status == 413)
            _ = try await browser.send("POST", "/messages", token: "bob", json: #"{"text":"Hello"}"#)
        }
        let left = stand.rest.requests.map { $0.params.timeout ?? .zero }
        #expect(left.count == 1 && left.allSatisfy { .seconds(1)...Duration.seconds(10) ~= $0 })
    }

    @Test("that are refused for a while say when to come back, rounded up to whole seconds")
    func retryAfter() throws {
        for (delay, field) in [(Duration.seconds(2), "2"), (.milliseconds(2_001), "3"), (.milliseconds(1), "1")] {
            var error = FeathersError(.unavailable, "Away")
            error.retryAfter = delay
            #expect(try Response(error).headers[.retryAfter] == field)
        }
    }

    @Test("stop while the FeathersJS server is unwell, and say when to come back")
    func breaker() async throws {
        let stand = try Stand()
        stand.rest.stub("messages", .get, with: .error(FeathersError(.unavailable, "Away", execution: .neverSent)))
        try await stand.run { browser, _ in
            for number in 1...8 {
                let response = try await browser.send("GET", "/messages/7", token: "alice")
                #expect(response.status == 503)
                #expect((response.fields["Retry-After"] != nil) == (number > 5))
            }
        }
        #expect(stand.rest.requests.count == 5)
    }
}
