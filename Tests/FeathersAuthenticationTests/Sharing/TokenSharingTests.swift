#if os(macOS) || os(Linux)
    import Feathers
    import FeathersTesting
    import TestBackend
    import Testing

    /// Four processes share one sign-in through files, as an app, its widget and its extensions do, while the server
    /// replaces refresh tokens.
    @Suite(.timeLimit(.minutes(30)), .serialized, .inTurn, .enabled(if: !TestBackend.isSkipped))
    struct TokenSharingTests {
        private static let refreshes = Environment.count ?? 200
        private static let seed = Environment.seed ?? 47

        /// Without the lock, as with the keychain, tokens are used twice, and the server's grace is needed.
        @Test(arguments: [true, false])
        func `No process is signed out, and none uses a token twice, however often they are killed`(
            canLock: Bool
        ) async throws {
            let refreshes = canLock ? Self.refreshes : max(40, Self.refreshes / 4)
            let run = try await SharingRun(seed: Self.seed, refreshes: refreshes, isLocked: canLock)
            var (check, chance, kills) = (RotationCheck(), SeededGenerator(seed: Self.seed), 0)
            var next = Int.random(in: 1...150, using: &chance)
            while check.refreshes < refreshes, let line = try await run.nextLine() {
                check.add(line)
                next -= 1
                guard next == 0 else { continue }
                kills += 1
                let place = Int.random(in: 0..<4, using: &chance)
                check.addKill(of: try await run.replace(place, generation: kills))
                next = Int.random(in: 1...150, using: &chance)
            }
            for name in try await run.killAll() { check.addKill(of: name) }
            // Otherwise, the server has ended with a process that was signed out.
            try #require(check.refreshes >= refreshes, "\(check.violations)")

            // What they have left behind is a usable pair.
            let last = try run.app("last")
            // An access token is good for four calls at most.
            for _ in 0..<5 { _ = try await last.service("messages").find() }
            for line in try await run.end() { check.add(line) }
            #expect(check.refusals == [])
            #expect(check.violations.isEmpty == canLock, "\(check.violations)")
            #expect(kills >= refreshes / 50 && check.hasRefreshed("last"))
            print(
                """
                Tokens shared \(canLock ? "with" : "without") the lock: \(kills) kills, \(check.refreshes) refreshes, \
                \(check.repetitions) repeated, \(check.refusedCalls) refusals, \(check.violations.count) used twice
                """)
        }
    }
#endif
