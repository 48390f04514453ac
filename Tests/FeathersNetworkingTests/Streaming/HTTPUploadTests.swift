import FeathersNetworking
import Foundation
import Synchronization
import TestBackend
import Testing

@Suite("Uploads of an HTTP client", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct HTTPUploadTests {
    static let pattern = ScratchFolder.pattern(3_000_000)
    static let patternDigest = "e692ec654c9dd6a5a69a6260cd61ab627427c93a9376aca3f0a8e27c4f710406"
    static let wrappedDigest = "5f7e4ab866f556a102bb7028f9d8442248a87333cd47d32f61e8c98e6577d6ed"
    static let emptyDigest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    enum Form: String, CaseIterable, CustomTestStringConvertible {
        case bytes, file, pieces, emptyFile
        var testDescription: String { rawValue }

        func body(in folder: ScratchFolder) throws -> (HTTPBody, String, Int) {
            var body = HTTPBody()
            switch self {
            case .bytes: return (HTTPBody(pattern), patternDigest, pattern.count)
            case .file: return (HTTPBody(file: try folder.file("a", pattern)), patternDigest, pattern.count)
            case .emptyFile: return (HTTPBody(file: try folder.file("a", [])), emptyDigest, 0)
            case .pieces:
                body.append(Array("head".utf8))
                body.append(file: try folder.file("a", Array(pattern.prefix(1_000_001))))
                body.append(file: try folder.file("empty", []))
                body.append(file: try folder.file("b", Array(pattern.dropFirst(1_000_001))))
                body.append(Array("tail".utf8))
                return (body, wrappedDigest, pattern.count + 8)
            }
        }
    }

    @Test("arrive whole, their length said before, and tell how far they are", arguments: TestedClient.all, Form.allCases)
    func whole(tested: TestedClient, form: Form) async throws {
        let folder = try ScratchFolder()
        let (body, digest, count) = try form.body(in: folder)
        let steps = Mutex<[TransferProgress]>([])
        let request = HTTPRequest(method: "PUT", url: try await SinkAnswer.url(), timeout: .seconds(30))
        let transfer = HTTPTransfer(request, body: body) { step in steps.withLock { $0.append(step) } }
        let answer = try SinkAnswer(try await tested.make().transfer(transfer))
        #expect(answer.sha256 == digest)
        #expect(answer.header("Content-Length") == String(count))
        #expect(answer.header("Transfer-Encoding") == nil)
        let seen = steps.withLock { $0 }
        #expect(seen.allSatisfy { $0.totalToSend == count && $0.sent <= count })
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.sent <= $1.sent && $0.received <= $1.received })
        #expect(seen.last?.sent == Int64(count))
        #expect(seen.last?.received == seen.last?.totalToReceive)
    }

    @Test("of what cannot be read are told before anything is sent", arguments: TestedClient.all, ["missing", "folder", "web"])
    func unreadable(tested: TestedClient, what: String) async throws {
        let folder = try ScratchFolder()
        let script = try await ServerScript(ScriptedResponse())
        let url = ["missing": folder.url.appending(path: "none"), "folder": folder.url, "web": script.url][what] ?? folder.url
        let client = try tested.make()
        let error = try await #require(throws: HTTPClientError.self) {
            try await client.transfer(HTTPTransfer(HTTPRequest(method: "POST", url: script.url), body: HTTPBody(file: url)))
        }
        #expect(error.kind == .unreadableFile)
        #expect(error.delivery == .neverSent)
        #expect(error.message.contains(url.lastPathComponent))
        #expect(try await script.requests().isEmpty)
    }

    @Test("are sent again where a redirect repeats them, and dropped where it does not", arguments: TestedClient.all, [307, 303])
    func redirects(tested: TestedClient, status: Int) async throws {
        let folder = try ScratchFolder()
        let script = try await ServerScript {
            [ScriptedResponse(status: status, headers: [["Location", $0.path() + "/next"]]), ScriptedResponse(body: "ok")]
        }
        let body = HTTPBody(file: try folder.file("a", Array("content".utf8)))
        let response = try await tested.make().transfer(
            HTTPTransfer(HTTPRequest(method: "POST", url: script.url, timeout: .seconds(20)), body: body))
        #expect(response.body == Array("ok".utf8))
        let requests = try await script.requests()
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["content", status == 307 ? "content" : ""])
    }

    @Test("over a client that cannot stream go through memory")
    func withoutStreaming() async throws {
        struct Plain: HTTPClient {
            let client: any HTTPClient
            func execute(_ request: HTTPRequest) async throws -> HTTPResponse { try await client.execute(request) }
        }
        let folder = try ScratchFolder()
        let (body, digest, count) = try Form.pieces.body(in: folder)
        let steps = Mutex<[TransferProgress]>([])
        let destination = folder.url.appending(path: "answer")
        let request = HTTPRequest(method: "PUT", url: try await SinkAnswer.url(), timeout: .seconds(30))
        var response = try await Plain(client: PlatformHTTPClient.make()).transfer(
            HTTPTransfer(request, body: body, destination: destination) { step in steps.withLock { $0.append(step) } })
        #expect(response.body.isEmpty)
        response.body = [UInt8](try Data(contentsOf: destination))
        #expect(try SinkAnswer(response).sha256 == digest)
        #expect(steps.withLock { $0.map(\.sent) } == [0, Int64(count)])
    }
}
