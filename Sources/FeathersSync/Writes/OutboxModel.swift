public import FeathersCore
public import Observation

/// The state of an app's outbox for SwiftUI views: what is pending, and what needs a decision.
///
/// ```swift
/// @State private var outbox = OutboxModel(app)
/// var body: some View {
///     List(outbox.failures) { entry in
///         Text(entry.failure?.error.message ?? "")
///         Button("Send again") { chosen = entry.id }
///     }
///     .task { await outbox.run() }
///     .task(id: chosen) { if let chosen { await outbox.retry(chosen) } }
/// }
/// ```
@MainActor @Observable
public final class OutboxModel {
    /// What the outbox does or waits for.
    public private(set) var activity = OutboxState.Activity.stopped
    /// The pending writes of the signed-in user, in the order they were queued.
    public private(set) var entries: [OutboxEntry] = []
    /// Why the app's outbox cannot be followed, or the last decision was not recorded; nil if there was no failure.
    public private(set) var error: (any Error)?

    @ObservationIgnored private let app: FeathersApp

    /// Creates a model of an app's outbox. The model does nothing until you call ``run()``, before which the outbox
    /// must be installed.
    public init(_ app: FeathersApp) { self.app = app }

    /// The number of writes that are sent or wait, without those that need a decision.
    public var pendingCount: Int { entries.count - failures.count }

    /// The writes that need a decision: see ``retry(_:)`` and ``discard(_:)``.
    public var failures: [OutboxEntry] { entries.filter { $0.status == .awaitingDecision } }

    /// Follows the outbox until the task is cancelled. If the app has no outbox, it ends and sets ``error``.
    public func run() async {
        error = nil
        do {
            for await state in try app.requiredOutbox().stateUpdates() {
                (activity, entries) = (state.activity, state.entries)
            }
        } catch {
            self.error = error
        }
    }

    /// Sends a failed write again. If the decision cannot be recorded, sets ``error``.
    public func retry(_ id: OutboxWrite.ID) async { await decide(.retry, for: id) }

    /// Discards a write. If the decision cannot be recorded, sets ``error``.
    public func discard(_ id: OutboxWrite.ID) async { await decide(.discard, for: id) }

    /// Decides about a write, see ``Outbox/decide(_:for:)``. If the decision cannot be recorded, sets ``error``.
    public func decide(_ decision: OutboxDecision, for id: OutboxWrite.ID) async {
        await attempt { try await $0.decide(decision, for: id) }
    }

    /// Sends the pending writes, for at most some time, see ``Outbox/flush(within:)``.
    public func flush(within limit: Duration) async { await attempt { _ = try await $0.flush(within: limit) } }

    private func attempt(_ work: (Outbox) async throws -> Void) async {
        error = nil
        do {
            try await work(app.requiredOutbox())
        } catch is CancellationError {
            // The view has disappeared.
        } catch {
            self.error = error
        }
    }
}
