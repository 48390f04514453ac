import Foundation
import TestBackend
import Testing

@Suite("The first program of the guide", .timeLimit(.minutes(10)))
struct HelloTests {
    @Test("creates, hears and finds a message")
    func says() async throws {
        let output = try await SiblingProgram.onThread {
            let (process, output) = (ChildProcess(), Pipe())
            process.executableURL = SiblingProgram.url("Hello")
            process.standardOutput = output
            try process.run()
            let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(output == "created message 1\nreceived: Hello, Feathers\nfound: Hello, Feathers\n")
    }
}
