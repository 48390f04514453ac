// Locks: Values without a lock.

import FeathersCore

/// A pending write, as described by a journal.
struct StoredWrite: Sendable {
    var write: OutboxWrite
    /// The position in the order of all writes.
    let number: Int
    /// What is known of all attempts.
    var execution = FeathersError.Execution.neverSent
    /// The failure that needs a decision, if there is one.
    var failure: OutboxFailure?
}

extension FeathersError.Execution {
    private static let texts: [Self: String] = [
        .neverSent: "neverSent", .answered: "answered", .mayHaveExecuted: "mayHaveExecuted",
    ]

    /// The form in the database.
    var text: String { Self.texts[self] ?? "mayHaveExecuted" }

    init?(text: String) {
        guard let known = Self.texts.first(where: { $0.value == text })?.key else { return nil }
        self = known
    }

    /// Returns what is known of an attempt and another one: the server received one of them if it received either.
    func and(_ other: Self) -> Self {
        if self == .mayHaveExecuted || other == .mayHaveExecuted { return .mayHaveExecuted }
        return self == .answered || other == .answered ? .answered : .neverSent
    }
}
