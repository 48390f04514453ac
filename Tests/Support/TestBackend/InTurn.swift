#if canImport(Testing)
    public import Testing

    /// Lets tests that talk to a server take turns: a few at a time, and none before the machine keeps time.
    ///
    /// A test run starts all its tests at once. Until those that only compute are done, nothing that waits is woken in
    /// time, and what measures a timeout measures the crowd.
    public struct InTurn: SuiteTrait, TestTrait, TestScoping {
        private static let turns = Turns(limit: 8)
        /// Whether the test has its turn already, from a suite around its own.
        @TaskLocal private static var hasTurn = false

        public var isRecursive: Bool { true }

        @concurrent
        public func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
        ) async throws {
            if Self.hasTurn { return try await function() }
            await Self.turns.take()
            do {
                try await Self.$hasTurn.withValue(true) { try await function() }
            } catch {
                await Self.turns.giveBack()
                throw error
            }
            await Self.turns.giveBack()
        }
    }

    extension Trait where Self == InTurn {
        /// Lets the tests take turns with all others that do; see ``InTurn``.
        public static var inTurn: Self { InTurn() }
    }

    /// Turns, first come first served. Waiting for one ends with somebody else's test, whose time is limited.
    private actor Turns {
        private var free: Int
        private var waiting: [CheckedContinuation<Void, Never>] = []
        private var settling: [CheckedContinuation<Void, Never>]?
        private var isSettled = false

        init(limit: Int) {
            free = limit
        }

        func take() async {
            await settle()
            guard free == 0 else { return free -= 1 }
            await withCheckedContinuation { waiting.append($0) }
        }

        func giveBack() {
            if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
        }

        /// The first one to come waits for the machine, all others for that.
        private func settle() async {
            guard !isSettled else { return }
            if settling != nil { return await withCheckedContinuation { settling?.append($0) } }
            settling = []
            // Cancelled, the test finds out by itself.
            try? await MachineLoad.settles()
            isSettled = true
            for continuation in settling ?? [] { continuation.resume() }
            settling = nil
        }
    }
#endif
