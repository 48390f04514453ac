/// The calls that a stub applies to.
struct StubSelector<Request: Sendable>: Sendable {
    /// The identity of the selector: selectors with equal identities replace each other. Nil if the selector is unique.
    var identity: [String?]?
    /// How specifically the selector describes a call. The matching selector with the highest rank is used.
    var rank: Int
    var matches: @Sendable (Request) -> Bool

    /// Returns a selector for calls that meet a condition. It takes precedence over any name.
    static func condition(_ condition: @escaping @Sendable (Request) -> Bool) -> StubSelector {
        StubSelector(identity: nil, rank: .max, matches: condition)
    }
}

/// A token for a registered stub, used to remove it.
public struct StubRegistration: Hashable, Sendable {
    let number: Int
}

/// The stubs registered for calls, in order of precedence.
struct StubRules<Request: Sendable, Response: Sendable>: Sendable {
    private struct Rule: Sendable {
        let registration: StubRegistration
        let selector: StubSelector<Request>
        let stub: Stub<Request, Response>
    }

    private var rules: [Rule] = []
    private var count = 0

    /// Adds a stub. A stub registered for exactly the same calls is replaced.
    mutating func add(_ stub: Stub<Request, Response>, for selector: StubSelector<Request>) -> StubRegistration {
        remove(sameAs: selector)
        count += 1
        let registration = StubRegistration(number: count)
        rules.append(Rule(registration: registration, selector: selector, stub: stub))
        return registration
    }

    mutating func remove(_ registration: StubRegistration) { rules.removeAll { $0.registration == registration } }
    mutating func removeAll() { rules = [] }

    /// Removes the stub registered for exactly the same calls.
    mutating func remove(sameAs selector: StubSelector<Request>) {
        if let identity = selector.identity { rules.removeAll { $0.selector.identity == identity } }
    }

    /// The stubs with their selectors; the first that matches is used.
    var inOrder: [(selector: StubSelector<Request>, stub: Stub<Request, Response>)] {
        // Among equally specific selectors, the latest wins.
        rules.sorted { ($0.selector.rank, $0.registration.number) > ($1.selector.rank, $1.registration.number) }.map {
            ($0.selector, $0.stub)
        }
    }
}
