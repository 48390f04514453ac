import FeathersNetworking
import Foundation
import Synchronization
import TestBackend
import Testing

@Suite("Downloads of an HTTP client", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct HTTPDownloadTests {
    static func source(_ path: String) async throws -> URL {
        try #require(URL(string: try await TestBackend.scriptServer().absoluteString + "/__source/" + path))
    }

    @Test(
        "become the file, in place of what was there, and tell how far they are", arguments: TestedClient.all,
        [0, 1, 3_000_000])
    func whole(tested: TestedClient, count: Int) async throws {
        let folder = try ScratchFolder()
        let file = try folder.file("it", [1, 2, 3])
        let steps = Mutex<[TransferProgress]>([])
        let request = HTTPRequest(url: try await Self.source("\(count)"), timeout: .seconds(30))
        let response = try await tested.make().transfer(
            HTTPTransfer(request, destination: file) { step in steps.withLock { $0.append(step) } })
        #expect(response.status == 200)
        #expect(response.body.isEmpty)
        #expect(try Data(contentsOf: file) == Data(ScratchFolder.pattern(count)))
        #expect(folder.names == ["it"])
        let seen = steps.withLock { $0 }
        #expect(seen.allSatisfy { $0.totalToReceive == Int64(count) })
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.received < $1.received })
        if count > 0 { #expect(seen.last?.received == Int64(count)) }
    }

    @Test("of what the server refuses leave the file alone and give the answer", arguments: TestedClient.all)
    func refused(tested: TestedClient) async throws {
        let folder = try ScratchFolder()
        let file = try folder.file("it", [1])
        let script = try await ServerScript(ScriptedResponse(status: 404, body: "no such thing"))
        let response = try await tested.make().transfer(
            HTTPTransfer(HTTPRequest(url: script.url, timeout: .seconds(20)), destination: file))
        #expect(response.status == 404)
        #expect(response.body == Array("no such thing".utf8))
        #expect(try Data(contentsOf: file) == Data([1]))
        #expect(folder.names == ["it"])
    }

    @Test("follow redirects, whose bodies are none of the file", arguments: TestedClient.all)
    func redirected(tested: TestedClient) async throws {
        let folder = try ScratchFolder()
        let script = try await ServerScript {
            [
                ScriptedResponse(status: 302, headers: [["Location", $0.path() + "/next"]], body: "elsewhere"),
                ScriptedResponse(body: "it"),
            ]
        }
        let file = folder.url.appending(path: "it")
        _ = try await tested.make().transfer(
            HTTPTransfer(HTTPRequest(url: script.url, timeout: .seconds(20)), destination: file))
        #expect(try Data(contentsOf: file) == Data("it".utf8))
        #expect(folder.names == ["it"])
    }

    @Test("that break leave nothing behind", arguments: TestedClient.all)
    func broken(tested: TestedClient) async throws {
        let folder = try ScratchFolder()
        let file = try folder.file("it", [1])
        let script = try await ServerScript(
            ScriptedResponse(body: String(repeating: "x", count: 100_000)).with { $0.closeAfterBytes = 50_000 })
        let client = try tested.make()
        let error = try await #require(throws: HTTPClientError.self) {
            try await client.transfer(
                HTTPTransfer(HTTPRequest(url: script.url, timeout: .seconds(20)), destination: file))
        }
        #expect(error.kind == .connectionLost)
        #expect(try Data(contentsOf: file) == Data([1]))
        #expect(folder.names == ["it"])
    }

    @Test("that are cancelled on the way leave nothing behind", arguments: TestedClient.all)
    func cancelled(tested: TestedClient) async throws {
        let folder = try ScratchFolder()
        let client = try tested.make()
        let request = HTTPRequest(url: try await Self.source("3000000?stallAfter=1000000"))
        let (arrived, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let transfer = HTTPTransfer(request, destination: folder.url.appending(path: "it")) {
            if $0.received == 1_000_000 { continuation.yield() }
        }
        let task = Task { try await client.transfer(transfer) }
        for await _ in arrived { break }
        #expect(folder.names.count == 1)
        #expect(folder.names.first?.hasPrefix(".feathers-") == true)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(folder.names.isEmpty)
    }

    @Test("in flight end when the client ends all, and a later one succeeds", arguments: TestedClient.all)
    func cancelledWithAll(tested: TestedClient) async throws {
        let folder = try ScratchFolder()
        let client = try tested.make()
        let request = HTTPRequest(url: try await Self.source("3000000?stallAfter=1000000"))
        let (arrived, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let transfer = HTTPTransfer(request, destination: folder.url.appending(path: "it")) {
            if $0.received == 1_000_000 { continuation.yield() }
        }
        let task = Task { try await client.transfer(transfer) }
        for await _ in arrived { break }
        client.cancelAll()
        let error = try await #require(throws: HTTPClientError.self) { try await task.value }
        #expect(error.kind == .closed && error.delivery == .mayHaveExecuted)
        #expect(folder.names.isEmpty)
        let whole = HTTPTransfer(
            HTTPRequest(url: try await Self.source("1000")), destination: folder.url.appending(path: "it"))
        #expect(try await client.transfer(whole).status == 200)
        #expect(folder.names == ["it"])
    }

    @Test("where nothing moves any more are timeouts", arguments: TestedClient.all)
    func stalled(tested: TestedClient) async throws {
        let folder = try ScratchFolder()
        let client = try tested.make()
        let request = HTTPRequest(url: try await Self.source("3000000?stallAfter=1000000"))
        let error = try await #require(throws: HTTPClientError.self) {
            try await client.transfer(
                HTTPTransfer(request, destination: folder.url.appending(path: "it"), stallTimeout: .milliseconds(1000)))
        }
        #expect(error.kind == .timeout)
        #expect(folder.names.isEmpty)
    }

    @Test("that move, however slowly, are none", arguments: TestedClient.all)
    func slow(tested: TestedClient) async throws {
        let folder = try ScratchFolder()
        let file = folder.url.appending(path: "it")
        // Six seconds in all, less than half a second between two pieces.
        let script = try await ServerScript(
            ScriptedResponse(body: "fifteen letters").with { ($0.dripMs, $0.dripBytes) = (400, 1) })
        _ = try await tested.make().transfer(
            HTTPTransfer(HTTPRequest(url: script.url), destination: file, stallTimeout: .seconds(5)))
        #expect(try Data(contentsOf: file) == Data("fifteen letters".utf8))
    }

    @Test("to where nothing can be written are told before anything is sent", arguments: TestedClient.all)
    func unwritable(tested: TestedClient) async throws {
        let folder = try ScratchFolder()
        let script = try await ServerScript(ScriptedResponse())
        let client = try tested.make()
        for url in [folder.url.appending(path: "none/it"), script.url] {
            let error = try await #require(throws: HTTPClientError.self) {
                try await client.transfer(HTTPTransfer(HTTPRequest(url: script.url), destination: url))
            }
            #expect(error.kind == .unwritableFile)
        }
        #expect(try await script.requests().isEmpty)
    }

    @Test("cancelled at any moment leave nothing behind, or the whole", arguments: TestedClient.cancellableAnywhere)
    func races(tested: TestedClient) async throws {
        let folder = try ScratchFolder()
        let client = try tested.make()
        let url = try await Self.source("200000")
        await withTaskGroup(of: Void.self) { group in
            for round in 0..<100 {
                group.addTask {
                    let file = folder.url.appending(path: "\(round)")
                    let task = Task {
                        try await client.transfer(
                            HTTPTransfer(HTTPRequest(url: url, timeout: .seconds(20)), destination: file))
                    }
                    for _ in 0..<(round * 3) { await Task.yield() }
                    task.cancel()
                    if (try? await task.value) == nil, let data = try? Data(contentsOf: file) {
                        #expect(data.count == 200_000)
                    }
                }
            }
        }
        #expect(folder.names.filter { $0.hasPrefix(".") } == [])
    }
}
