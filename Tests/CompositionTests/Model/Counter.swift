@testable import FeathersTesting

/// A number that grows, and that tests wait for.
final class Counter: Sendable {
    private let state = ObservedState(0)

    var count: Int { state.current }

    func add() { state.update { $0 += 1 } }

    func wait(for count: Int) async throws { try await state.wait { $0 >= count } }
}
