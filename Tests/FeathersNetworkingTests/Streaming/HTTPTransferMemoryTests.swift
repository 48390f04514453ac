import FeathersNetworking
import Foundation
import Synchronization
import TestBackend
import Testing

/// 200 MB through a process that must not grow by them.
///
/// Only with `FEATHERS_LONG=1`, and alone: other suites grow the process too, and wait for servers that these transfers
/// keep busy.
@Suite("Memory of large transfers", .serialized, .enabled(if: LargeTransfers.areWanted), .timeLimit(.minutes(10)))
struct HTTPTransferMemoryTests {
    static let count = 200 * 1024 * 1024
    static let digestOfZeros = "72abf2ca8f36943ebe2e49ca3a51d409ca5f0bfcffab6c9d25643c17c32889da"
    static let limit = 20 << 20

    /// The most a process grew during a transfer, in bytes.
    static func growth(_ client: any HTTPClient, _ transfer: HTTPTransfer) async throws -> (HTTPResponse, Int) {
        let start = try #require(ProcessMemory.current)
        let peak = Mutex(start)
        var watched = transfer
        // Sampled every few megabytes: reading it costs more than sending a piece.
        let nextSample = Mutex<Int64>(0)
        watched.progress = { step in
            let isDue = nextSample.withLock { next in
                guard step.sent + step.received >= next else { return false }
                next += 4 << 20
                return true
            }
            if isDue, let current = ProcessMemory.current { peak.withLock { $0 = max($0, current) } }
        }
        let response = try await client.transfer(watched)
        return (response, peak.withLock { $0 } - start)
    }

    @Test("uploads of a file and of pieces", arguments: TestedClient.all, [false, true])
    func upload(tested: TestedClient, inPieces: Bool) async throws {
        let folder = try ScratchFolder()
        let file = try folder.file("zeros", [])
        try FileHandle(forWritingTo: file).truncate(atOffset: UInt64(Self.count) - (inPieces ? 8 : 0))
        var body = HTTPBody()
        if inPieces { body.append([0, 0, 0, 0]) }
        body.append(file: file)
        if inPieces { body.append([0, 0, 0, 0]) }
        let request = HTTPRequest(method: "POST", url: try await SinkAnswer.url())
        let (response, growth) = try await Self.growth(
            try tested.make(), HTTPTransfer(request, body: body, stallTimeout: .seconds(60)))
        let answer = try SinkAnswer(response)
        #expect((answer.length, answer.sha256) == (Self.count, Self.digestOfZeros))
        #expect(growth < Self.limit, "grew by \(growth >> 20) MB")
    }

    @Test("downloads into a file", arguments: TestedClient.all)
    func download(tested: TestedClient) async throws {
        let folder = try ScratchFolder()
        let file = folder.url.appending(path: "it")
        let request = HTTPRequest(url: try await HTTPDownloadTests.source("\(Self.count)"))
        let (_, growth) = try await Self.growth(
            try tested.make(), HTTPTransfer(request, destination: file, stallTimeout: .seconds(60)))
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.size] as? Int == Self.count)
        #expect(growth < Self.limit, "grew by \(growth >> 20) MB")
    }
}

enum LargeTransfers {
    static let areWanted =
        Environment.isLong && !TestBackend.isSkipped && ProcessMemory.current != nil
}

/// The memory of this process that is in use.
enum ProcessMemory {
    /// In bytes; nil where the system does not tell this way.
    static var current: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int(fields[1]).map { $0 * 4096 } : nil
    }
}
