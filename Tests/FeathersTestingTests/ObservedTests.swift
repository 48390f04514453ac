import FeathersTesting
import Observation
import Testing

@MainActor
@Suite("What an observable or a stream shows", .timeLimit(.minutes(10)))
struct ObservedTests {
    @Observable @MainActor
    final class Model {
        var title = "connecting…"
        var count = 0

        func run(through titles: [String]) async {
            for title in titles {
                await Task.yield()
                self.title = title
                count += 1
            }
        }
    }

    @Test("A condition that holds returns at once; another is awaited")
    func condition() async throws {
        let model = Model()
        try await observed { model.title == "connecting…" }
        async let _: Void = model.run(through: ["a", "b", "c"])
        try await observed { model.count == 3 && model.title == "c" }
    }

    @Test("The values of an expression are collected, each change once")
    func values() async throws {
        let model = Model()
        let values = Task { try await observed({ model.title }, until: { $0.last == "b" }) }
        await model.run(through: ["a", "a", "b"])
        let collected = try await values.value
        // Changes that follow each other without the reader running in between are one.
        #expect(collected.last == "b" && collected.count <= 3)
        #expect(Set(collected).count == collected.count)
    }

    @Test("A waiting task can be cancelled")
    func cancellation() async throws {
        let model = Model()
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let waiting = Task {
            try await observed {
                continuation.finish()
                return model.title == "never"
            }
        }
        for await _ in started {}
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("The elements of a sequence are collected until they meet a condition, or to its end")
    func sequences() async throws {
        let (numbers, continuation) = AsyncStream.makeStream(of: Int.self)
        for number in 1...5 { continuation.yield(number) }
        #expect(try await observed(numbers, until: { $0.count == 3 }) == [1, 2, 3])
        continuation.finish()
        #expect(try await observed(numbers, until: { $0.isEmpty }) == [4, 5])
    }
}
