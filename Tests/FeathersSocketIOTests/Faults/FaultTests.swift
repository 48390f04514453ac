import TestBackend
import Testing

/// What becomes of a connection when the network does its worst: one case after the other, since time matters in them.
@Suite("Faults", .serialized, .inTurn, .enabled(if: !TestBackend.isSkipped))
enum FaultTests {
    /// Their own, so that no other suite's events fill a slow connection.
    static let backend = TestBackend(variables: [:])
}
