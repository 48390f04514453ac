import Feathers
import FeathersCore
import FeathersSupport

@testable import FeathersTesting

/// Reads a live query in a task of its own and checks each snapshot when it comes: its records were told to a user who
/// was signed in between the moment it was asked for and the moment it came.
final class LiveProbe: Sendable {
    struct State: Sendable {
        /// The latest snapshot; nil before the first.
        var records: [JSONValue]?
        /// Whether a snapshot was the server's. Before that, a failed fetch ends the query.
        var hasResult = false
        var violations: [String] = []
        var failure: (any Error)?
        var isOver = false
    }

    let query: Query<JSONValue>
    let path: String
    let state = ObservedState(State())
    private let task = Locked<Task<Void, Never>?>(nil)
    private let live: LiveQuery<JSONValue>
    private let growths = Locked<[Task<Void, Never>]>([])

    init(
        _ app: FeathersApp, _ path: String, _ query: Query<JSONValue>, _ identities: IdentityLog,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.path, self.query) = (path, query)
        live = app.service(path).live(query).measured(by: clock)
        let (state, live) = (state, live.snapshots)
        let reading = Task {
            // Made here, so that the query is listening or has not yet fetched.
            var snapshots = live.makeAsyncIterator()
            do {
                while true {
                    let begin = identities.position
                    guard let snapshot = try await snapshots.next() else { break }
                    let records = Array(snapshot.records)
                    let allowed = identities.identities(since: begin, in: app)
                    let told = records.toldUsers
                    state.update { state in
                        (state.records, state.hasResult) = (records, state.hasResult || snapshot.source == .server)
                        if !told.isSubset(of: allowed.union(["nobody"])) {
                            state.violations.append(
                                "live query of \(path) showed what \(told.sorted()) were told, "
                                    + "with \(allowed.sorted()) signed in")
                        }
                    }
                }
                state.update { $0.isOver = true }
            } catch {
                state.update { ($0.isOver, $0.failure) = (true, error is CancellationError ? nil : error) }
            }
        }
        task.withLock { $0 = reading }
    }

    /// Stops reading and returns when it has stopped.
    func stop() async {
        let tasks = [task.withLock { $0 }].compactMap(\.self) + growths.withLock { $0 }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    /// Lets the list grow while it is read.
    func grow(by count: Int) {
        let growth = Task { [live] in _ = try? await live.loadMore(count) }
        growths.withLock { $0.append(growth) }
    }

    func wait(until condition: @escaping @Sendable ([JSONValue]) -> Bool) async throws {
        try await state.wait { $0.records.map(condition) ?? false || $0.isOver }
        if let failure = state.current.failure { throw failure }
    }
}

/// Every identity an app has had, in order.
final class IdentityLog: Sendable {
    private let names: Locked<[String]>

    init(_ app: FeathersApp) {
        names = Locked([])
        app.observeIdentity { [names] identity in names.withLock { $0.append(identity?.name ?? "nobody") } }
    }

    /// The place of the present identity.
    var position: Int { names.withLock { $0.count - 1 } }

    /// Who has been signed in since then. The log is told just after the app, so what the app says now counts too.
    func identities(since position: Int, in app: FeathersApp) -> Set<String> {
        names.withLock { Set($0[max(position, 0)...]) }.union([app.identity?.name ?? "nobody"])
    }
}
