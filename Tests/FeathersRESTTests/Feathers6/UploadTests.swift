import FeathersCore
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersREST

@Suite("Uploads through services", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct UploadTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString).mp4")
    private let content = Data((0..<300_000).map { UInt8($0 % 251) })

    private func uploads() async throws -> UntypedService {
        FeathersApp(transport: .feathers6(try await TestBackend.url().appending(path: "v6"))).service("uploads")
    }

    @Test("A file is sent as it is, with its type and progress, as any method")
    func raw() async throws {
        try content.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let steps = Locked<[TransferProgress]>([])
        let uploads = try await uploads()
        let seen = Locked<JSONValue?>(nil)
        await uploads.use(hooks: Hooks(before: [{ context in seen.withLock { $0 = context.data } }]))
        let created = try await uploads.create(file: file) { step in steps.withLock { $0.append(step) } }
        #expect(created["type"] == "video/mp4")
        #expect(created["length"] == .integer(Int64(content.count)))
        #expect(created["sha256"]?.string == SHA256.hex(content))
        #expect(seen.withLock { $0 } == nil)
        #expect(steps.withLock { $0.last?.sent } == Int64(content.count))
        #expect(steps.withLock { $0.allSatisfy { $0.totalToSend == Int64(content.count) } })
        let patched = try await uploads.upload(.data(Data("abc".utf8), contentType: .csv), method: .patch, id: 7)
        #expect(patched["method"] == "patch" && patched["id"] == "7" && patched["length"] == 3)
        #expect(patched["type"] == "text/csv; charset=utf-8")
    }

    @Test("A form is sent with its fields and files")
    func multipart() async throws {
        try content.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let created = try await uploads().upload(.multipart([.field("name", "é"), .file("movie", at: file, filename: "a.mp4")]))
        #expect(created["fields"]?["name"] == "é")
        #expect(created["fields"]?["movie"] == ["filename": "a.mp4", "type": "video/mp4", "length": .integer(Int64(content.count))])
    }

    @Test("A stream is sent piece by piece")
    func stream() async throws {
        let pieces = AsyncStream<Data> { continuation in
            for start in stride(from: 0, to: content.count, by: 10_000) { continuation.yield(content[start..<(start + 10_000)]) }
            continuation.finish()
        }
        let created = try await uploads().create(stream: pieces, contentType: "application/x-test")
        #expect(created["sha256"]?.string == SHA256.hex(content))
        #expect(created["type"] == "application/x-test")
    }

    @Test("What cannot be uploaded is refused before anything is sent")
    func refusals() async throws {
        let uploads = try await uploads()
        await #expect { try await uploads.create(file: URL(filePath: "/nowhere/at-all.mp4")) } throws: { error in
            (error as? FeathersError)?.execution == .neverSent && "\(error)".contains("at-all.mp4")
        }
        await #expect { try await uploads.upload(.text("x"), method: .find) } throws: { "\($0)".contains("has no body to upload") }
        let stub = FeathersApp(transport: StubTransport { _ in nil })
        await #expect { try await stub.service("uploads").upload(.text("x")) } throws: { "\($0)".contains("go over HTTP") }
    }
}
