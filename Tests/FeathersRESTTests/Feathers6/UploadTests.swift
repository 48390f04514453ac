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

    private func uploads() async throws -> Service<JSONValue> {
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
        let created = try await uploads().upload(
            .multipart([.field("name", "é"), .file("movie", at: file, filename: "a.mp4")]))
        #expect(created["fields"]?["name"] == "é")
        #expect(
            created["fields"]?["movie"] == [
                "filename": "a.mp4", "type": "video/mp4", "length": .integer(Int64(content.count)),
            ])
    }

    private func pieces(_ error: (any Error)? = nil) -> AsyncThrowingStream<Data, any Error> {
        AsyncThrowingStream { continuation in
            for start in stride(from: 0, to: content.count, by: 10_000) {
                continuation.yield(content[start..<(start + 10_000)])
            }
            continuation.finish(throwing: error)
        }
    }

    @Test("A stream is sent piece by piece, alone and in a form")
    func stream() async throws {
        let uploads = try await uploads()
        let created = try await uploads.create(stream: pieces(), contentType: "application/x-test")
        #expect(created["sha256"]?.string == SHA256.hex(content))
        #expect(created["type"] == "application/x-test")
        let form = try await uploads.upload(
            .multipart([.field("name", "é"), .stream("movie", pieces(), filename: "a.bin")]))
        #expect(form["fields"]?["name"] == "é")
        let length = JSONValue.integer(Int64(content.count))
        #expect(
            form["fields"]?["movie"] == ["filename": "a.bin", "type": "application/octet-stream", "length": length])
    }

    @Test("A stream arrives while it is produced")
    func produced() async throws {
        // The second piece is produced when the first has been sent.
        let (steps, step) = AsyncStream.makeStream(of: Void.self)
        let count = Locked(0)
        let pieces = AsyncStream<Data> {
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 2 { for await _ in steps { break } }
            return number < 3 ? Data([UInt8(number)]) : nil
        }
        let created = try await uploads().create(stream: pieces) { if $0.sent > 0 { step.yield() } }
        #expect(created["sha256"]?.string == SHA256.hex(Data([1, 2])))
    }

    @Test("The error of a stream ends the call, and is what the caller gets")
    func failingStream() async throws {
        struct Failure: Error {}
        let uploads = try await uploads()
        await #expect(throws: Failure.self) { try await uploads.create(stream: pieces(Failure())) }
    }

    @Test("A server that requires a length is told apart, and a stream is not sent twice")
    func lengthRequired() async throws {
        let script = try await ServerScript(ScriptedResponse(status: 411))
        let uploads = FeathersApp(transport: .feathers6(script.url)).service("uploads")
        let body = EndpointBody.stream(pieces())
        await #expect { try await uploads.upload(body) } throws: {
            "\($0)".contains("the server requires the length of the body")
        }
        await #expect { try await uploads.upload(body) } throws: { "\($0)".contains("call again with a new stream") }
        #expect(try await script.requests().count == 1)
    }

    @Test("What cannot be uploaded is refused before anything is sent")
    func refusals() async throws {
        let uploads = try await uploads()
        await #expect { try await uploads.create(file: URL(filePath: "/nowhere/at-all.mp4")) } throws: { error in
            (error as? FeathersError)?.execution == .neverSent && "\(error)".contains("at-all.mp4")
        }
        await #expect { try await uploads.upload(.text("x"), method: .find) } throws: {
            "\($0)".contains("has no body to upload")
        }
        let stub = FeathersApp(transport: StubTransport { _ in nil })
        await #expect { try await stub.service("uploads").upload(.text("x")) } throws: {
            "\($0)".contains("go over HTTP")
        }
    }
}
