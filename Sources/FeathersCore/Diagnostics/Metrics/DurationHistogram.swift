/// How many durations were at most how long.
public struct DurationHistogram: Sendable, Hashable {
    /// The upper bounds of its buckets, the same for everything; what takes longer than the last is counted behind it.
    public static let bounds: [Duration] = [
        .milliseconds(1), .milliseconds(5), .milliseconds(10), .milliseconds(25), .milliseconds(50), .milliseconds(100), .milliseconds(250),
        .milliseconds(500), .seconds(1), .seconds(2.5), .seconds(5), .seconds(10), .seconds(30),
    ]

    /// How many durations are in each bucket and in none before it; one more than there are bounds.
    public private(set) var counts = Array(repeating: 0, count: bounds.count + 1)
    /// All durations together.
    public private(set) var sum = Duration.zero

    package init() {}

    /// How many durations there were.
    public var count: Int { counts.reduce(0, +) }

    /// Counts a duration.
    package mutating func add(_ duration: Duration) {
        counts[Self.bounds.firstIndex { duration <= $0 } ?? Self.bounds.count] += 1
        sum += duration
    }
}
