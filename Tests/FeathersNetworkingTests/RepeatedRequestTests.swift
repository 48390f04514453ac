import FeathersNetworking
import Foundation
import TestBackend
import Testing

#if os(Linux)
    /// A kept connection that dies under a request: may the request be sent again?
    @Suite("A request over a connection that turns out to be dead", .inTurn, .enabled(if: !TestBackend.isSkipped))
    struct RepeatedRequestTests {
        struct Case: Sendable, CustomTestStringConvertible {
            let testDescription: String
            var method = "GET"
            var body: [UInt8]?
            var isRepeatable: Bool?
            /// Whether the client may try again and get its answer.
            let isAnswered: Bool
        }

        static let cases: [Case] = [
            Case(testDescription: "a GET is sent again", isAnswered: true),
            Case(testDescription: "a GET that says not to is not", isRepeatable: false, isAnswered: false),
            Case(testDescription: "a POST is not", method: "POST", body: Array(#"{"a":1}"#.utf8), isAnswered: false),
            Case(testDescription: "a POST without a body is not", method: "POST", isAnswered: false),
            Case(testDescription: "a PATCH is not", method: "PATCH", body: Array("{}".utf8), isAnswered: false),
        ]

        @Test("is sent again where that does no harm, and only there", arguments: cases)
        func repeated(_ testCase: Case) async throws {
            // The second answer on the first connection is none: the server closes it once the request has come.
            let script = try await ServerScript(
                ScriptedResponse(status: 200, body: "first"), ScriptedResponse.raw(""),
                ScriptedResponse(status: 200, body: "again"))
            let client = try CurlHTTPClient()
            _ = try await client.execute(HTTPRequest(url: script.url))
            var request = HTTPRequest(method: testCase.method, url: script.url, body: testCase.body)
            if let isRepeatable = testCase.isRepeatable { request.isRepeatable = isRepeatable }
            if testCase.isAnswered {
                #expect(try await client.execute(request).body == Array("again".utf8))
            } else {
                let lost = request
                await #expect {
                    try await client.execute(lost)
                } throws: { error in
                    (error as? HTTPClientError)?.delivery == .mayHaveExecuted
                }
            }
            #expect(
                try await script.requests(count: testCase.isAnswered ? 3 : 2).count == (testCase.isAnswered ? 3 : 2))
        }
    }
#endif
