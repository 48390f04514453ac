import FeathersCore
import FeathersSupport

extension Stub {
    /// Answers with each of the stubs in turn, in the order the calls come, and begins anew after the last.
    public static func cycle(_ stubs: [Stub]) -> Stub {
        guard !stubs.isEmpty else { return .without("The cycle") }
        let calls = Locked(0)
        return Stub(taking: { request in
            let index = calls.withLock { calls in
                defer { calls = (calls + 1) % stubs.count }
                return calls
            }
            return stubs[index].take(request)
        })
    }

    /// Answers with any of the stubs, each as likely as the others, from the first call on.
    /// - Parameters:
    ///   - stubs: what is chosen from; none at all makes a stub that throws.
    ///   - seed: makes the choice the same in every run; nil leaves it to chance.
    public static func random(_ stubs: [Stub], seed: UInt64? = nil) -> Stub {
        guard !stubs.isEmpty else { return .without("The choice at random") }
        guard let seed else { return Stub(taking: { stubs[Int.random(in: stubs.indices)].take($0) }) }
        let generator = Locked(SeededGenerator(seed: seed))
        return Stub(taking: { request in
            stubs[generator.withLock { Int.random(in: stubs.indices, using: &$0) }].take(request)
        })
    }

    /// Answers with the stub that `choice` picks for a call; it is asked once for every call, when the call comes.
    public static func choose(_ choice: @escaping @Sendable (Request) -> Stub) -> Stub {
        Stub(taking: { choice($0).take($0) })
    }

    private static func without(_ what: String) -> Stub {
        .error(FeathersError(.generalError, "\(what) has no stubs to answer with", execution: .neverSent))
    }
}
