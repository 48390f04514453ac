// Locks: Main actor.

import FeathersCore
import FeathersSupport
public import Observation

/// A live query for SwiftUI views, with observable records and an observable error.
///
/// ```swift
/// // `Message` is `Identifiable`.
/// @State private var messages = LiveQueryModel(
///     app.service("messages", of: Message.self).live(.sorted(by: "createdAt").limit(30)))
/// var body: some View {
///     List {
///         ForEach(messages.records) { Text($0.text) }
///         if messages.hasMore { ProgressView().task { await messages.loadMore() } }
///     }
///     .task { await messages.run() }
///     .refreshable { await messages.refresh() }
/// }
/// ```
@MainActor @Observable
public final class LiveQueryModel<Element: Sendable> {
    /// The current result, or the last known one after a failure. After ``show(_:)``, it is that of the previous query
    /// until the first result of the new one has arrived.
    public private(set) var records: LiveList<Element> = []
    /// Whether a result has arrived since the last call to ``run()`` or ``show(_:)``.
    public private(set) var isLoaded = false
    /// The rows: the records with their states.
    public private(set) var rows: LiveList<LiveRow<Element>> = []
    /// Where the records come from; nil before the first result.
    public private(set) var source: ResultSource?
    /// The number of records in the whole result; nil if the server does not report it.
    public private(set) var total: Int?
    /// Whether ``total`` is an estimate.
    public private(set) var isTotalEstimated = false
    /// Whether more records follow, which ``loadMore(_:at:)`` shows. False until a result has arrived.
    public private(set) var hasMore = false
    /// Whether there are records before the first one. Only a list around a record may have some.
    public private(set) var hasMoreBefore = false
    /// Whether ``loadMore(_:at:)`` is waiting for the server.
    public private(set) var isLoadingMore = false
    /// The error that ended the query; nil while it runs and after a cancellation.
    public private(set) var error: (any Error)?
    /// The error of the last ``loadMore(_:at:)`` or ``refresh()``; nil if it succeeded or was cancelled. The query goes
    /// on.
    public private(set) var loadError: (any Error)?

    @ObservationIgnored private var shownQuery: LiveQuery<Element>
    /// Fulfilled when another query takes the place of this one.
    @ObservationIgnored private var replaced = Promise<Void>()
    /// Fulfilled when the calls that load records are no longer about what is shown.
    @ObservationIgnored private var abandoned = Promise<Void>()
    /// The user to whom the records were shown.
    @ObservationIgnored private var shownIdentity: Identity?

    /// Creates a model of a live query. The model does nothing until you call ``run()``.
    public init(_ query: LiveQuery<Element>) { self.shownQuery = query }

    /// Keeps the records current until the task is cancelled or the query fails. You can call it again afterward. If
    /// the user has changed, it first removes the previous user's records.
    public func run() async {
        (isLoaded, hasMore, error, loadError) = (false, false, nil, nil)
        repeat {
            let (query, replaced) = (shownQuery, replaced)
            removeRecords(unlessOf: query.source.service.app.identity)
            await Self.firstToEnd([
                { await self.follow(query, until: replaced) },
                { try? await replaced.value() },
                // Until its first result, the query does not know that anything is shown.
                {
                    for await identity in query.source.service.app.identityUpdates() {
                        self.removeRecords(unlessOf: identity)
                    }
                },
            ])
            if !replaced.isSettled { return }
        } while !Task.isCancelled
    }

    /// Shows the result of another query, for example when the user enters a search text.
    ///
    /// The records of the previous query stay until the first result of the new one has arrived; until then,
    /// ``isLoaded`` is false. If the model is running, it goes on with the new query. Otherwise, the next ``run()``
    /// does.
    public func show(_ query: LiveQuery<Element>) {
        self.shownQuery = query
        (isLoaded, hasMore, hasMoreBefore, error) = (false, false, false, nil)
        abandonLoads()
        replaced.resolve(())
        replaced = Promise()
    }

    /// Shows more records at an end of the list. See ``LiveQuery/loadMore(_:at:)``.
    ///
    /// Does nothing if there are no more records beyond that end, or while an earlier call is loading. A failure is in
    /// ``loadError``; the list then stays as it was.
    /// - Parameters:
    ///   - count: The number of records to add. By default, as many as the query showed at first.
    ///   - end: The end at which to add them. Only a list around a record grows at its start.
    public func loadMore(_ count: Int? = nil, at end: LiveEnd = .end) async {
        guard end == .end ? hasMore : hasMoreBefore, !isLoadingMore else { return }
        isLoadingMore = true
        let abandoned = abandoned
        await loadRows { try await $0.loadMore(count, at: end) }
        if abandoned === self.abandoned { isLoadingMore = false }
    }

    /// Fetches the result again, for example when the user pulls to refresh. It returns once the server has responded.
    ///
    /// Does nothing if ``isLoaded`` is false. A failure is in ``loadError``; what is shown stays.
    public func refresh() async {
        guard isLoaded else { return }
        await loadRows { try await $0.refresh() }
    }

    /// Runs a call that loads records, until what is shown is of another query or user.
    private func loadRows(_ body: @escaping @Sendable (LiveQuery<Element>) async throws -> Void) async {
        let (query, abandoned) = (shownQuery, abandoned)
        let sender = query.source.service.app.currentSender
        loadError = nil
        let failure = Locked<(any Error)?>(nil)
        await Self.firstToEnd([
            { do { try await body(query) } catch { failure.withLock { $0 = error } } },
            { try? await abandoned.value() },
        ])
        guard let error = failure.withLock(\.self), !(error is CancellationError) else { return }
        if abandoned === self.abandoned, sender.isCurrent { loadError = error }
    }

    private func follow(_ query: LiveQuery<Element>, until replaced: Promise<Void>) async {
        do {
            for try await snapshot in query.snapshots {
                guard replaced === self.replaced else { return }
                removeRecords(unlessOf: snapshot.shownIdentity)
                (records, rows, source) = (snapshot.records, snapshot.rows, snapshot.source)
                (total, isTotalEstimated) = (snapshot.total, snapshot.isTotalEstimated)
                (hasMore, hasMoreBefore) = (snapshot.hasMore, snapshot.hasMoreBefore)
                isLoaded = true
            }
        } catch is CancellationError {
            // The view has disappeared, or shows another query.
        } catch {
            if replaced === self.replaced { self.error = error }
        }
    }

    /// Removes what was shown to another user.
    private func removeRecords(unlessOf user: Identity?) {
        guard shownIdentity != user else { return }
        (records, rows, source, total, isTotalEstimated) = ([], [], nil, nil, false)
        (hasMore, hasMoreBefore) = (false, false)
        shownIdentity = user
        abandonLoads()
    }

    private func abandonLoads() {
        (isLoadingMore, loadError) = (false, nil)
        abandoned.resolve(())
        abandoned = Promise()
    }

    /// Runs operations until the first one ends.
    private static func firstToEnd(_ operations: [@MainActor @Sendable () async -> Void]) async {
        await withTaskGroup(of: Void.self) { group in
            for operation in operations { group.addTask(operation: operation) }
            await group.next()
            group.cancelAll()
        }
    }
}
