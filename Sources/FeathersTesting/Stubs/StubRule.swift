/// Which calls a stub is for.
struct StubSelector<Request: Sendable>: Sendable {
    /// What it says, where two that say the same are one; nil where none is like another.
    var identity: [String?]?
    /// How closely it describes a call: the highest that matches answers.
    var rank: Int
    var matches: @Sendable (Request) -> Bool

    /// Calls that fulfil a condition: more particular than any name.
    static func condition(_ condition: @escaping @Sendable (Request) -> Bool) -> StubSelector {
        StubSelector(identity: nil, rank: .max, matches: condition)
    }
}

/// A stub that was registered, to take it back with.
public struct StubRegistration: Hashable, Sendable {
    let number: Int
}

/// The stubs registered for calls: finds the one that answers.
struct StubRules<Request: Sendable, Response: Sendable>: Sendable {
    private struct Rule: Sendable {
        let registration: StubRegistration
        let selector: StubSelector<Request>
        let stub: Stub<Request, Response>
    }

    private var rules: [Rule] = []
    private var count = 0

    /// Adds a stub; where one is registered for the very same calls, it is replaced.
    mutating func add(_ stub: Stub<Request, Response>, for selector: StubSelector<Request>) -> StubRegistration {
        remove(sameAs: selector)
        count += 1
        let registration = StubRegistration(number: count)
        rules.append(Rule(registration: registration, selector: selector, stub: stub))
        return registration
    }

    mutating func remove(_ registration: StubRegistration) { rules.removeAll { $0.registration == registration } }
    mutating func removeAll() { rules = [] }

    /// Removes what is registered for the very same calls.
    mutating func remove(sameAs selector: StubSelector<Request>) {
        if let identity = selector.identity { rules.removeAll { $0.selector.identity == identity } }
    }

    /// The stubs with their selectors, the first that matches is the one that answers.
    var inOrder: [(selector: StubSelector<Request>, stub: Stub<Request, Response>)] {
        // Of two that describe a call as closely, the latest.
        rules.sorted { ($0.selector.rank, $0.registration.number) > ($1.selector.rank, $1.registration.number) }.map {
            ($0.selector, $0.stub)
        }
    }
}
