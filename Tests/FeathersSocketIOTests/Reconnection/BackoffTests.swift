import FeathersCore
import FeathersTesting
import Testing

@testable import FeathersSocketIO

@Suite("Reconnection")
struct BackoffTests {
    private func delays(_ policy: ReconnectionPolicy, random: Double, count: Int) -> [Duration] {
        var backoff = Backoff(policy: policy)
        return (0..<count).compactMap { _ in
            if case .wait(_, let delay) = backoff.ended(.transportClose, now: .zero, random: random) {
                delay
            } else {
                nil
            }
        }
    }

    @Test("waits longer after each failure, up to the maximum")
    func growth() {
        #expect(delays(ReconnectionPolicy(), random: 0, count: 6) == [1, 2, 4, 5, 5, 5].map { .seconds($0) })
        #expect(delays(ReconnectionPolicy(multiplier: 1), random: 0, count: 3) == [1, 1, 1].map { .seconds($0) })
        #expect(delays(ReconnectionPolicy(multiplier: 1e300), random: 0, count: 80).last == .seconds(5))
    }

    @Test("leaves half of each delay to chance, at the maximum too")
    func jitter() {
        var generator = SeededGenerator(seed: 7)
        for failures in 1...8 {
            var seen: [Double] = []
            for _ in 0..<20_000 {
                var backoff = Backoff(policy: ReconnectionPolicy())
                var delay = Duration.zero
                for _ in 0..<failures {
                    if case .wait(_, let next) = backoff.ended(
                        .transportClose, now: .zero, random: .random(in: 0..<1, using: &generator))
                    {
                        delay = next
                    }
                }
                seen.append(delay / .seconds(1))
            }
            let nominal = min(5, Double(1 << (failures - 1)))
            let mean = seen.reduce(0, +) / Double(seen.count)
            #expect(seen.allSatisfy { $0 > nominal / 2 && $0 <= nominal })
            #expect(abs(mean - nominal * 0.75) < nominal * 0.01)
            #expect(Set(seen).count > 19_000)
        }
    }

    @Test("starts over only after a connection that stood for a while")
    func stability() {
        var backoff = Backoff(policy: ReconnectionPolicy(stablePeriod: .seconds(10)))
        _ = backoff.ended(.transportClose, now: .zero, random: 0)
        _ = backoff.ended(.transportClose, now: .zero, random: 0)
        backoff.connected(now: .seconds(100))
        #expect(backoff.ended(.transportClose, now: .seconds(109), random: 0) == .wait(attempt: 3, delay: .seconds(4)))
        backoff.connected(now: .seconds(200))
        #expect(backoff.ended(.transportClose, now: .seconds(210), random: 0) == .wait(attempt: 1, delay: .seconds(1)))
    }

    @Test("ends with its budget of attempts")
    func budget() {
        var backoff = Backoff(policy: ReconnectionPolicy(maximumAttempts: 2))
        #expect(backoff.attempt == 1)
        #expect(backoff.ended(.transportClose, now: .zero, random: 0) == .wait(attempt: 1, delay: .seconds(1)))
        #expect(backoff.ended(.transportClose, now: .zero, random: 0) == .wait(attempt: 2, delay: .seconds(2)))
        #expect(backoff.ended(.transportClose, now: .zero, random: 0) == .stop(.attemptsExhausted))
        backoff = Backoff(policy: .never)
        #expect(backoff.ended(.pingTimeout, now: .zero, random: 0) == .stop(.pingTimeout))
    }

    @Test(
        "comes after losses and ends by the server, not after refusals",
        arguments: [
            (DisconnectReason.serverDisconnect, true), (.clientDisconnect, false), (.pingTimeout, true),
            (.transportClose, true),
            (.transportError("x"), true), (.parseError("x"), true), (.refused("x"), false), (.attemptsExhausted, false),
        ])
    func reasons(reason: DisconnectReason, retries: Bool) {
        var backoff = Backoff(policy: ReconnectionPolicy())
        let expected: Backoff.Decision = retries ? .wait(attempt: 1, delay: .seconds(1)) : .stop(reason)
        #expect(backoff.ended(reason, now: .zero, random: 0) == expected)
    }

    @Test("comes after refusals where the policy says so")
    func willing() {
        var backoff = Backoff(policy: ReconnectionPolicy(retriesAfterRefusal: true))
        #expect(backoff.ended(.refused("x"), now: .zero, random: 0) == .wait(attempt: 1, delay: .seconds(1)))
    }
}
