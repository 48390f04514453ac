import FeathersCore
import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersSync

/// After any history of changes, losses and reconnections, a live result is what a fresh `find` gives.
@Suite("The result of a live query after any history", .timeLimit(.minutes(10)))
struct LiveHistoryTests {
    static let queries: [Query<JSONValue>] = [
        Query(),
        .where("kind", "a"),
        .sorted(by: "rank"),
        .where("rank", .greaterThan(2)).sorted(by: "rank", .descending),
        .sorted(by: "rank").limit(3),
        .where("kind", .isIn(["a", "b"])).sorted(by: "kind").sorted(by: "rank", .descending).limit(2),
        .limit(4),
        .sorted(by: "rank").limit(2).skip(2),
        .sorted(by: "rank").limit(3).selecting("kind"),
        .where("rank", .lessThanOrEqual(3)).skip(1),
        .sorted(by: "rank", .descending).limit(0),
        .any(of: [.where("kind", "c"), .where("rank", 1)]).sorted(by: "id", .descending),
    ]

    static let histories = Environment.count ?? 10_000

    @Test("is what a fresh find gives", arguments: Array(queries.enumerated()), [nil, Pagination(default: 3, max: 5)])
    func equalsFind(query: (offset: Int, element: Query<JSONValue>), pagination: Pagination?) async throws {
        let share = max(Self.histories / (Self.queries.count * 2), 1) + 1
        let first = Environment.seed ?? 0
        for seed in first..<first + UInt64(share) {
            // Other tests wait for the network meanwhile, on as many threads as there are cores.
            await Task.yield()
            var history = LiveHistory(query.element, pagination, seed: seed &* 7919 &+ UInt64(query.offset))
            try await history.play()
            let (live, fresh) = try await history.results()
            #expect(live == fresh, "query \(query.element), seed \(seed): \(history.log.joined(separator: ", "))")
        }
    }
}
