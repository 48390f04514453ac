/// Who is to be called when: one deadline for each key.
struct DeadlineTable<Key: Hashable> {
    private var deadlines: [Key: ContinuousClock.Instant] = [:]
    /// No deadline is earlier. It may be too early, as nothing is searched when one is taken back.
    private(set) var earliest: ContinuousClock.Instant?

    init() {}

    /// Sets a key's deadline in place of the one it had; nil takes it back.
    mutating func set(_ deadline: ContinuousClock.Instant?, for key: Key) {
        deadlines[key] = deadline
        if deadlines.isEmpty {
            earliest = nil
        } else if let deadline {
            earliest = min(earliest ?? deadline, deadline)
        }
    }

    /// Removes and returns the keys whose deadline has come, earliest first.
    mutating func due(at now: ContinuousClock.Instant) -> [Key] {
        guard let earliest, earliest <= now else { return [] }
        let due = deadlines.filter { $0.value <= now }.sorted { $0.value < $1.value }.map(\.key)
        for key in due { deadlines[key] = nil }
        self.earliest = deadlines.values.min()
        return due
    }
}
