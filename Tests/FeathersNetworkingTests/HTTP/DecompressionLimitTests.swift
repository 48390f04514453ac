import Foundation
import TestBackend
import Testing

@testable import FeathersNetworking

@Suite("Growth of answers that are decompressed", .inTurn, .timeLimit(.minutes(10)))
struct DecompressionLimitTests {
    @Test(
        "A hundredfold and 4 MiB are taken",
        arguments: [
            (0, 0, true), (4 << 20, 0, true), (4 << 20 + 1, 0, false), (4 << 20 + 100, 1, true),
            (4 << 20 + 101, 1, false),
            (104 << 20, 1 << 20, true), (105 << 20, 1 << 20, false),
        ] as [(Int64, Int64, Bool)])
    func rule(decompressed: Int64, transmitted: Int64, isPermitted: Bool) {
        #expect(DecompressionLimit.permits(decompressed, from: transmitted) == isPermitted)
    }

    #if os(Linux)
        /// 256 MiB of zeros and commas, 250 KB on the way.
        private static func bomb() async throws -> HTTPRequest {
            let url = try await TestBackend.scriptServer().appending(path: "__payloads/json/zeros/268435456")
            return HTTPRequest(url: url, timeout: .seconds(60), maximumResponseBytes: .max)
        }

        @Test(
            "libcurl's end early where they grow more, in memory and into a file", .enabled(if: !TestBackend.isSkipped),
            arguments: [false, true])
        func grown(intoFile: Bool) async throws {
            let folder = try ScratchFolder()
            let client = try CurlHTTPClient()
            let request = try await Self.bomb()
            let error = try await #require(throws: HTTPClientError.self) {
                let destination = intoFile ? folder.url.appending(path: "it") : nil
                _ = try await client.transfer(HTTPTransfer(request, destination: destination))
            }
            #expect(error.kind == .responseTooLarge && error.delivery == .mayHaveExecuted)
            #expect(error.message == "The response is more than 100 times as large as what was transmitted")
            #expect(folder.names.isEmpty)
        }

        @Test(
            "libcurl's are whole where they grow less, however they are framed", .enabled(if: !TestBackend.isSkipped),
            arguments: ["", "?chunked"])
        func proportionate(framing: String) async throws {
            // Fiftyfold.
            let text = try await TestBackend.scriptServer().absoluteString + "/__payloads/json/mixed/12582912" + framing
            let response = try await CurlHTTPClient().execute(
                HTTPRequest(url: try #require(URL(string: text)), timeout: .seconds(60)))
            #expect(response.body.count > 12_000_000 && response.body.last == UInt8(ascii: "]"))
        }
    #endif
}
