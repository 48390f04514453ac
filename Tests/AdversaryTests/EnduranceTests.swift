import Feathers
import FeathersTesting
import TestBackend
import Testing

/// What lasts long with `FEATHERS_LONG=1`, and is tried briefly in every run. Only the long runs measure the process:
/// in a short one, other suites use it too.
@Suite(
    "Endurance against hostile servers", .serialized, .inTurn, .enabled(if: !TestBackend.isSkipped),
    .timeLimit(.minutes(60)))
struct EnduranceTests {
    @Test("A flood of tiny packets is outlived, and memory stays flat", arguments: Subject.ways.filter { $0.flood > 0 })
    func flood(_ subject: Subject) async throws {
        let count = Environment.isLong ? subject.flood : 10_000
        let server = try await HostileServer("a flood", count: count, on: Adversary.backend)
        let app = try await subject.app(server, .seconds(900))
        try await app.connect()
        ProcessUsage.resetPeak()
        let before = ProcessUsage.current
        #expect(try await app.service("messages").get(7) == Adversary.record(7))
        if Environment.isLong, let before, let after = ProcessUsage.current {
            let growth = after.peak - before.memory
            print("\(count) tiny packets over \(subject.testDescription): at most \(growth >> 10) KiB more memory")
            #expect(growth < 32 << 20)
        }
        await app.disconnect()
    }

    @Test(
        "Calls that are cancelled at random end, the others get their own answers, and nothing is left",
        arguments: Subject.ways)
    func cancellation(_ subject: Subject) async throws {
        let count = Environment.isLong ? 10_000 : 300
        let server = try await HostileServer("a lottery", on: Adversary.backend)
        try await cancelAtRandom(count, try await subject.app(server, .seconds(60)), subject)
        // The app is gone, and with it what its calls held.
        try await server.counters(open: 0)
    }

    /// The server answers a third of the calls at once, a third later and a third never. How many other calls are
    /// answered in between decides when a call is cancelled.
    private func cancelAtRandom(_ count: Int, _ app: FeathersApp, _ subject: Subject) async throws {
        let lanes = 16
        if subject.connects { try await app.connect() }
        let messages = app.service("messages")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(lane))
                    for number in stride(from: lane, to: count, by: lanes) {
                        let call = Task { try await messages.get(number) }
                        let isCancelled = number % 3 == 2 || Bool.random(using: &generator)
                        if isCancelled {
                            let answeredAtOnce = number - number % 3
                            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                                _ = try await messages.get(answeredAtOnce)
                            }
                            call.cancel()
                        }
                        do {
                            let answer = try await call.value
                            #expect(answer == Adversary.record(number))
                        } catch is CancellationError where isCancelled {
                            continue
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await messages.get(0) == Adversary.record(0))
        await app.disconnect()
    }

    @Test(
        "Connecting and disconnecting again and again leaves no descriptor, thread or memory behind",
        arguments: Subject.ways)
    func cycles(_ subject: Subject) async throws {
        let count = Environment.isLong ? 4000 : 40
        let server = try await HostileServer("healthy", on: Adversary.backend)
        var samples: [ProcessUsage] = []
        for number in 0..<count {
            try await cycle(number, subject, server)
            if Environment.isLong, number % 20 == 0, let usage = ProcessUsage.current { samples.append(usage) }
        }
        try await server.counters(open: 0)
        guard Environment.isLong else { return }
        let descriptors = ProcessUsage.growth(of: \.descriptors, in: samples)
        let threads = ProcessUsage.growth(of: \.threads, in: samples)
        let memory = ProcessUsage.growth(of: \.memory, in: samples)
        let name = subject.testDescription
        print("\(count) cycles over \(name): \(descriptors) descriptors, \(threads) threads, \(memory >> 10) KiB more")
        #expect(descriptors <= 2)
        #expect(threads <= 2)
        // The runtime keeps some two kilobytes of every long sleep that is cancelled.
        #expect(memory < 12 << 20)
    }

    private func cycle(_ number: Int, _ subject: Subject, _ server: HostileServer) async throws {
        let app = try await subject.app(server, Adversary.longDeadline)
        #expect(try await subject.read(number, from: app, within: Adversary.longDeadline) == Adversary.record(number))
        await app.disconnect()
    }
}
