#if os(macOS) || os(Linux)
    import FeathersCore
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersSync

    @Suite("Two processes and the file of an outbox", .timeLimit(.minutes(10)))
    struct TwoProcessTests {
        @Test("One writes, another is refused and may read, and takes over once the first is killed")
        func taken() async throws {
            let run = try KillRun(transport: "offline")
            let file = run.folder.file
            let nowhere = try #require(URL(string: "http://127.0.0.1:1"))
            let writer = try await run.startWriter(nowhere, generation: 0)
            // Not for long: the writer fills the file.
            for _ in 0..<3 {
                await #expect { try await Outbox(file: file) } throws: {
                    "\($0)".contains("'\(file.path)'") && "\($0)".contains("another outbox uses it")
                }
                // What was acknowledged before is there.
                let before = try run.check().acknowledged.count
                #expect(try Journal.peek(at: file, service: "ledger").writes.count >= before)
            }
            try await run.kill(writer)
            let acknowledged = try run.check().acknowledged.count
            #expect(try Journal.peek(at: file, service: "ledger").writes.count >= acknowledged)
            let outbox = try await Outbox(file: file)
            #expect(outbox.state.entries.count >= acknowledged)
            await outbox.close()
        }
    }
#endif
