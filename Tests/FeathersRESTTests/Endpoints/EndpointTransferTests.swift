import FeathersCore
import FeathersNetworking
import FeathersREST
import Foundation
import Synchronization
import TestBackend
import Testing

@Suite("Transfers of endpoints", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct EndpointTransferTests {
    let folder = FileManager.default.temporaryDirectory.appending(path: "feathers-transfer-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] }

    private func app() async throws -> FeathersApp {
        FeathersApp(transport: .rest(try await TestBackend.scriptServer()))
    }

    private func endpoint(_ path: String) -> Endpoint<DownloadedFile> {
        Endpoint(.get, path, to: folder.appending(path: "it"))
    }

    struct Sink: Decodable, Sendable {
        var length: Int
    }

    @Test("give their steps while they go, the last one whole, and then the response")
    func upload() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a.png")
        try Data(count: 2_000_000).write(to: file)
        let steps = Mutex<[TransferProgress]>([])
        let upload = Endpoint<Sink>(.post, "__sink", body: .multipart([.field("x", "y"), .file("avatar", at: file)]))
        let response = try await app().transfer(upload) { progress in
            for await step in progress { steps.withLock { $0.append(step) } }
        }
        let seen = steps.withLock { $0 }
        #expect(response.value.length > 2_000_000)
        #expect(seen.last?.sent == Int64(response.value.length))
        #expect(seen.last?.totalToSend == Int64(response.value.length))
        #expect(seen.last?.fraction == 1)
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 != $1 && $0.sent <= $1.sent })
    }

    @Test("into a file give the file, with request and transfer alike")
    func download() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try await app()
        #expect(try await app.request(endpoint("__source/1000")).url == folder.appending(path: "it"))
        #expect(try Data(contentsOf: folder.appending(path: "it")).count == 1000)
        let response = try await app.transfer(endpoint("__source/500000")) { progress in
            for await step in progress { #expect(step.totalToReceive == 500_000) }
        }
        #expect((response.status, names) == (200, ["it"]))
        #expect(try Data(contentsOf: response.value.url).count == 500_000)
    }

    @Test("into a file write what a hook gives in the server's place")
    func stubbedDownload() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try await app()
        app.use(hooks: Hooks(before: [{ $0.result = ["a": 1] }]))
        try await app.request(endpoint("x"))
        #expect(try String(contentsOf: folder.appending(path: "it"), encoding: .utf8) == #"{"a":1}"#)
    }

    @Test("that the server refuses are its error, and no file")
    func refused() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let script = try await ServerScript(
            ScriptedResponse(status: 403, body: #"{"name":"Forbidden","message":"Not yours","code":403}"#))
        let error = try await #require(throws: FeathersError.self) {
            try await app().request(endpoint(script.url.absoluteString))
        }
        #expect((error.code, error.message) == (.forbidden, "Not yours"))
        #expect(names.isEmpty)
    }

    @Test("go on where a reader stops early")
    func earlyReader() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try await app().transfer(endpoint("__source/3000000")) { progress in
            for await _ in progress { break }
        }
        #expect(names == ["it"])
    }

    struct Enough: Error {}

    @Test("end where their reader throws, and leave nothing behind")
    func throwingReader() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        await #expect(throws: Enough.self) {
            try await app().transfer(stalling()) { progress in
                for await step in progress where step.received >= 1_000_000 { throw Enough() }
            }
        }
        #expect(names.isEmpty)
    }

    @Test("are cancelled with their caller, and leave nothing behind")
    func cancelled() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let app = try await app()
        let download = stalling()
        let (arrived, continuation) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await app.transfer(download) { progress in
                for await step in progress where step.received == 1_000_000 { continuation.yield() }
            }
        }
        for await _ in arrived { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(names.isEmpty)
    }

    @Test("fail where nothing moves for the transport's timeout, however long the whole may take")
    func stalled() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await MachineLoad.settles()
        let app = FeathersApp(transport: .rest(try await TestBackend.scriptServer(), timeout: .seconds(5)))
        let error = try await #require(throws: FeathersError.self) { try await app.request(stalling()) }
        #expect(error.code == .timeout)
        #expect(names.isEmpty)
        let script = try await ServerScript(
            ScriptedResponse(body: "longer than that").with { ($0.dripMs, $0.dripBytes) = (400, 1) })
        try await app.request(endpoint(script.url.absoluteString))
        #expect(names == ["it"])
    }

    /// Three megabytes of which one comes.
    private func stalling() -> Endpoint<DownloadedFile> {
        var stalling = endpoint("__source/3000000")
        stalling.queryItems = [URLQueryItem(name: "stallAfter", value: "1000000")]
        return stalling
    }
}
