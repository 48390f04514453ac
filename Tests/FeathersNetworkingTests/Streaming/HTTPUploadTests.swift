import FeathersSupport
import Foundation
import Synchronization
import TestBackend
import Testing

@testable import FeathersNetworking

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

    @Test(
        "arrive whole, their length said before, and tell how far they are", arguments: TestedClient.all, Form.allCases)
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

    @Test(
        "of what cannot be read are told before anything is sent", arguments: TestedClient.all,
        ["missing", "folder", "web"])
    func unreadable(tested: TestedClient, what: String) async throws {
        let folder = try ScratchFolder()
        let script = try await ServerScript(ScriptedResponse())
        let url =
            ["missing": folder.url.appending(path: "none"), "folder": folder.url, "web": script.url][what] ?? folder.url
        let client = try tested.make()
        let error = try await #require(throws: HTTPClientError.self) {
            try await client.transfer(
                HTTPTransfer(HTTPRequest(method: "POST", url: script.url), body: HTTPBody(file: url)))
        }
        #expect(error.kind == .unreadableFile)
        #expect(error.delivery == .neverSent)
        #expect(error.message.contains(url.lastPathComponent))
        #expect(try await script.requests().isEmpty)
    }

    @Test(
        "are sent again where a redirect repeats them, and dropped where it does not", arguments: TestedClient.all,
        [307, 303])
    func redirects(tested: TestedClient, status: Int) async throws {
        let folder = try ScratchFolder()
        let script = try await ServerScript {
            [
                ScriptedResponse(status: status, headers: [["Location", $0.path() + "/next"]]),
                ScriptedResponse(body: "ok"),
            ]
        }
        let body = HTTPBody(file: try folder.file("a", Array("content".utf8)))
        let response = try await tested.make().transfer(
            HTTPTransfer(HTTPRequest(method: "POST", url: script.url, timeout: .seconds(20)), body: body))
        #expect(response.body == Array("ok".utf8))
        let requests = try await script.requests()
        #expect(
            requests.map { String(decoding: $0.body, as: UTF8.self) } == ["content", status == 307 ? "content" : ""])
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
        let streamed = Self.upload(HTTPBody(stream: Self.stream()), to: try await SinkAnswer.url())
        #expect(
            try SinkAnswer(try await Plain(client: PlatformHTTPClient.make()).transfer(streamed)).sha256
                == Self.patternDigest)
    }

    // MARK: Streams

    private struct Failure: Error {}

    private static func stream(of bytes: [UInt8] = pattern, piece: Int = 70_001, failing error: (any Error)? = nil)
        -> HTTPBodySource
    {
        HTTPBodySource(
            AsyncThrowingStream<Data, any Error> { continuation in
                for start in stride(from: 0, to: bytes.count, by: piece) {
                    continuation.yield(Data(bytes[start..<min(start + piece, bytes.count)]))
                }
                continuation.finish(throwing: error)
            })
    }

    private static func upload(_ body: HTTPBody, to url: URL, _ progress: (@Sendable (TransferProgress) -> Void)? = nil)
        -> HTTPTransfer
    {
        HTTPTransfer(HTTPRequest(method: "POST", url: url, timeout: .seconds(60)), body: body, progress: progress)
    }

    @Test("of streams arrive whole and in order, without a length except over URLSession", arguments: TestedClient.all)
    func streams(tested: TestedClient) async throws {
        let folder = try ScratchFolder()
        let steps = Mutex<[TransferProgress]>([])
        var body = HTTPBody(Array("head".utf8))
        body.append(HTTPBody(stream: Self.stream(of: Array(Self.pattern.prefix(1_000_001)))))
        body.append(HTTPBody(stream: Self.stream(of: [])))
        body.append(file: try folder.file("b", Array(Self.pattern[1_000_001..<2_000_000])))
        body.append(HTTPBody(stream: Self.stream(of: Array(Self.pattern.dropFirst(2_000_000)), piece: 3)))
        body.append(Array("tail".utf8))
        let client = try tested.make()
        let transfer = Self.upload(body, to: try await SinkAnswer.url()) { step in steps.withLock { $0.append(step) } }
        let answer = try SinkAnswer(try await client.transfer(transfer))
        #expect(answer.sha256 == Self.wrappedDigest)
        let isChunked = !(client is URLSessionHTTPClient)
        #expect(answer.header("Transfer-Encoding") == (isChunked ? "chunked" : nil))
        #expect(answer.header("Content-Length") == (isChunked ? nil : String(Self.pattern.count + 8)))
        let seen = steps.withLock { $0 }
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.sent <= $1.sent })
        #expect(seen.last?.sent == Int64(Self.pattern.count + 8) && seen.last?.fraction == 1)
        #expect(seen.contains { $0.sent > 0 && $0.fraction == nil } == isChunked)
        let empty = Self.upload(HTTPBody(stream: Self.stream(of: [])), to: try await SinkAnswer.url())
        #expect(try SinkAnswer(try await client.transfer(empty)).sha256 == Self.emptyDigest)
    }

    @Test(
        "of a stream that fails end with its error, and are never complete for the server", arguments: TestedClient.all)
    func failingStream(tested: TestedClient) async throws {
        let client = try tested.make()
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        let body = HTTPBody(stream: Self.stream(of: Array(Self.pattern.prefix(200_000)), failing: Failure()))
        await #expect(throws: Failure.self) { try await client.transfer(Self.upload(body, to: script.url)) }
        #expect(
            try await client.transfer(Self.upload(HTTPBody(stream: Self.stream(of: [1, 2])), to: script.url)).status
                == 200)
        #expect(try await script.requests().map(\.body) == [[1, 2]])
    }

    @Test("of a stream ask it for more only as it is taken")
    func demand() async throws {
        let (piece, count) = (10_000, 50)
        let produced = Mutex(0)
        let pieces = AsyncStream<Data> {
            produced.withLock { produced in
                guard produced < count else { return nil }
                produced += 1
                return Data(count: piece)
            }
        }
        let body = HTTPBody(stream: HTTPBodySource(pieces))
        var (taken, unsent) = (0, 0)
        try await body.feeding { attempt in
            #expect(produced.withLock { $0 } == 0)
            try await HTTPBodyReader(attempt).forEach { bytes in
                taken += bytes.count
                unsent = max(unsent, produced.withLock { $0 } * piece - taken)
            }
        }
        #expect(taken == count * piece)
        // The limit, the piece that exceeds it, and the next one, which is produced while those wait.
        #expect(unsent < HTTPBodySource.limit + 2 * piece)
        #expect(throws: HTTPClientError.self) { try HTTPBodyReader(body) }
    }

    @Test("of a stream keep in memory only what was not taken, although the connection never takes all of it")
    func slowConnection() async throws {
        let body = HTTPBody(stream: HTTPBodySource(AsyncStream { Data(count: 65_536) }))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_524, alignment: 16)
        defer { buffer.deallocate() }
        var most = 0
        try await body.feeding { attempt in
            let reader = try HTTPBodyReader(attempt)
            for _ in 0..<500 {
                let arrival = Promise<Void>()
                if try reader.read(into: buffer, resume: { arrival.resolve(()) }) == nil { try await arrival.value() }
                most = max(most, attempt.streams[0].bufferedCount)
            }
        }
        #expect(most <= 2 * HTTPBodySource.limit + 2 * 65_536)
    }

    @Test(
        "of one stream at the same moment do not disturb each other: one is refused, the other sends all of it",
        arguments: [true, false])
    func rivals(isRivalFirst: Bool) async throws {
        for _ in 0..<20 {
            let (start, begun, refusal, end) = (Promise<Void>(), Promise<Void>(), Promise<Void>(), Promise<Void>())
            let produced = Mutex(0)
            // Its second piece comes when the rival has ended.
            let pieces = AsyncStream {
                let number = produced.withLock { produced in
                    produced += 1
                    return produced
                }
                if number == 2 { try? await end.value() }
                return number > 2 || Task.isCancelled ? nil : Data([UInt8(number)])
            }
            let body = HTTPBody(stream: HTTPBodySource(pieces))
            async let rival: Void = {
                try? await start.value()
                try? await body.feeding { _ in
                    begun.resolve(())
                    try await refusal.value()
                    throw HTTPBodySource.readBefore
                }
                end.resolve(())
            }()
            let startRival = {
                start.resolve(())
                try await begun.value()
            }
            if isRivalFirst { try await startRival() }
            let bytes = try await body.feeding { attempt in
                if !isRivalFirst { try await startRival() }
                var bytes: [UInt8] = []
                try await HTTPBodyReader(attempt).forEach {
                    bytes += $0
                    refusal.resolve(())
                }
                return bytes
            }
            #expect(bytes == [1, 2])
            await rival
        }
    }

    @Test("of one stream take no bytes that another attempt produces, although both were ready to read")
    func oneReader() async throws {
        let body = HTTPBody(stream: Self.stream(of: [1, 2, 3]))
        var bytes: [UInt8] = []
        try await body.feeding { first in
            let reader = try HTTPBodyReader(first)
            let error = await #expect(throws: HTTPClientError.self) {
                try await body.feeding { second in
                    let late = try HTTPBodyReader(second)
                    try await reader.forEach { bytes += $0 }
                    try await late.forEach { _ in }
                }
            }
            #expect(error?.message.contains("call again with a new stream") == true)
        }
        #expect(bytes == [1, 2, 3])
        var twice = HTTPBody(stream: Self.stream(of: [1]))
        twice.append(twice)
        await #expect(throws: HTTPClientError.self) { try await twice.bytes() }
    }

    @Test(
        "of a stream end with a refusal that arrives before there is anything to send",
        arguments: TestedClient.cancellableAnywhere)
    func earlyRefusal(tested: TestedClient) async throws {
        let (pieces, producer) = AsyncStream.makeStream(of: Data.self)
        defer { producer.finish() }
        let url = try await TestBackend.scriptServer().appending(path: "__refusal")
        let response = try await tested.make().transfer(Self.upload(HTTPBody(stream: HTTPBodySource(pieces)), to: url))
        #expect(response.status == 401)
    }

    @Test("of a stream that was never read can be tried again", arguments: TestedClient.cancellableAnywhere)
    func unreadStream(tested: TestedClient) async throws {
        let client = try tested.make()
        let body = HTTPBody(stream: Self.stream())
        // The TCP port of the discard service, which no server listens on.
        let nowhere = try #require(URL(string: "http://127.0.0.1:9/"))
        let error = try await #require(throws: HTTPClientError.self) {
            try await client.transfer(Self.upload(body, to: nowhere))
        }
        #expect(error.delivery == .neverSent)
        #expect(
            try SinkAnswer(try await client.transfer(Self.upload(body, to: try await SinkAnswer.url()))).sha256
                == Self.patternDigest)
    }

    @Test("of a stream can be cancelled while the server takes nothing", arguments: TestedClient.cancellableAnywhere)
    func cancelledStream(tested: TestedClient) async throws {
        let port = try SilentPort()
        let (asked, asking) = AsyncStream.makeStream(of: Void.self)
        let pieces = AsyncStream<Data> {
            asking.yield()
            return Data(count: 1 << 20)
        }
        let client = try tested.make()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.port)/"))
        let upload = Task { try await client.transfer(Self.upload(HTTPBody(stream: HTTPBodySource(pieces)), to: url)) }
        for await _ in asked { break }
        upload.cancel()
        await #expect(throws: CancellationError.self) { try await upload.value }
    }

    @Test(
        "of a stream that a cancellation ends early are never complete for the server",
        arguments: TestedClient.cancellableAnywhere)
    func cancelledProducer(tested: TestedClient) async throws {
        let script = try await ServerScript(ScriptedResponse(body: "ok"))
        let (pieces, producer) = AsyncStream.makeStream(of: Data.self)
        let (sent, sending) = AsyncStream.makeStream(of: Void.self)
        let client = try tested.make()
        let upload = Task {
            try await client.transfer(
                Self.upload(HTTPBody(stream: HTTPBodySource(pieces)), to: script.url) {
                    if $0.sent > 0 { sending.yield() }
                })
        }
        producer.yield(Data([1]))
        for await _ in sent { break }
        // Ends the stream too, as if it were complete.
        upload.cancel()
        await #expect(throws: CancellationError.self) { try await upload.value }
        #expect(try await client.execute(HTTPRequest(method: "PUT", url: script.url, body: [2])).status == 200)
        #expect(try await script.requests().map(\.body) == [[2]])
    }

    @Test("of a stream are not sent again where a redirect repeats them", arguments: TestedClient.all, [307, 303])
    func redirectedStream(tested: TestedClient, status: Int) async throws {
        let script = try await ServerScript {
            [
                ScriptedResponse(status: status, headers: [["Location", $0.path() + "/next"]]),
                ScriptedResponse(body: "ok"),
            ]
        }
        let client = try tested.make()
        let transfer = Self.upload(HTTPBody(stream: Self.stream(of: [1, 2, 3])), to: script.url)
        if status == 307 {
            let error = try await #require(throws: HTTPClientError.self) { try await client.transfer(transfer) }
            #expect(error.message.contains("call again with a new stream") && error.delivery == .mayHaveExecuted)
        } else {
            #expect(try await client.transfer(transfer).body == Array("ok".utf8))
        }
        #expect(try await script.requests().map(\.body) == (status == 307 ? [[1, 2, 3]] : [[1, 2, 3], []]))
    }
}
