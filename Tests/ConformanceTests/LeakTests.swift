import Feathers
import FeathersTesting
import Foundation
import TestBackend
import Testing

/// What is left after many calls: nothing.
@Suite("Leaks", .inTurn)
struct LeakTests {
    /// The memory this process has resident, in bytes; nil where the system does not tell.
    private static func residentMemory() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 4096 }
    }

    /// Runs `calls` calls, 32 at once.
    private static func run(_ calls: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<32 {
                group.addTask { for number in stride(from: lane, to: calls, by: 32) { try await body(number) } }
            }
            try await group.waitForAll()
        }
    }

    private static func runCancelled(_ calls: Int, on service: Service<JSONValue>) async throws {
        try await run(calls) { _ in
            let task = Task { try await service.get(60_000) }
            task.cancel()
            do {
                _ = try await task.value
                Issue.record("a call that takes a minute was answered")
            } catch is CancellationError {}
        }
    }

    /// One subject for each way calls go; the others share their code and would only take longer.
    private static let subjects = [Subject.memory, .stub] + (TestBackend.isSkipped ? [] : [.rest, .webSocket])

    @Test("10,000 calls and 1,000 cancelled ones leave no memory behind", arguments: subjects)
    func memory(_ subject: Subject) async throws {
        let app = try await subject.app()
        let (echo, slow) = (app.service("echo"), app.service("slow"))
        let payload = JSONValue.string(String(repeating: "x", count: 2_000))
        func work(_ calls: Int) async throws {
            try await Self.run(calls) { number in
                _ = try await echo.create(["n": .integer(Int64(number)), "payload": payload])
            }
            try await Self.runCancelled(calls / 10, on: slow)
        }
        try await MachineLoad.settles()
        try await work(1_000)
        // Every call's payload kept once would be 20 MB. Other suites run in the same process: what they take in one
        // round they do not in all.
        var least = Int.max
        for _ in 0..<6 where least >= 12 << 20 {
            let before = Self.residentMemory()
            try await work(10_000)
            guard let before, let after = Self.residentMemory() else { return }
            least = min(least, after - before)
        }
        #expect(least < 12 << 20, "grew by \(least >> 20) MB")
    }

    @Test("An app, its services, its readers and its transport are released")
    func release() async throws {
        weak var app: FeathersApp?
        weak var transport: StubTransport?
        do {
            let stub = StubTransport { $0.data ?? .null }
            let made = FeathersApp(transport: stub)
            (app, transport) = (made, stub)
            let messages = made.service("messages")
            await messages.use(hooks: .logging { _ in })
            made.use(hooks: .retrying())
            let events = messages.events(.created)
            try await messages.create(["a": 1])
            _ = try await events.first()
        }
        #expect(app == nil)
        #expect(transport == nil)
    }
}
