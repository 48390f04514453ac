import FeathersCore
public import Observation

/// A live query for SwiftUI views, with observable records and an observable error.
///
/// ```swift
/// // `Message` is `Identifiable`.
/// @State private var messages = LiveQueryModel(
///     app.service("messages", of: Message.self).live(.sorted(by: "createdAt")))
/// var body: some View {
///     List(messages.records) { Text($0.text) }
///         .task { await messages.run() }
/// }
/// ```
@MainActor @Observable
public final class LiveQueryModel<Element: Sendable> {
    /// The current result, or the last known one after a failure.
    public private(set) var records: LiveList<Element> = []
    /// Whether a result has arrived since the last call to ``run()``.
    public private(set) var isLoaded = false
    /// The rows: the records with their states.
    public private(set) var rows: LiveList<LiveRow<Element>> = []
    /// Where the records come from; nil before the first result.
    public private(set) var source: ResultSource?
    /// The number of records in the whole result; nil if the server does not report it.
    public private(set) var total: Int?
    /// Whether ``total`` is an estimate.
    public private(set) var isTotalEstimated = false
    /// The error that ended the query; nil while it runs and after a cancellation.
    public private(set) var error: (any Error)?

    @ObservationIgnored private let query: LiveQuery<Element>
    /// The user to whom the records were shown.
    @ObservationIgnored private var identity: Identity?

    /// Creates a model of a live query. The model does nothing until you call ``run()``.
    public init(_ query: LiveQuery<Element>) { self.query = query }

    /// Keeps the records current until the task is cancelled or the query fails. You can call it again afterward. If
    /// the user has changed, it first removes the previous user's records.
    public func run() async {
        (isLoaded, error) = (false, nil)
        if identity != query.source.service.app.identity {
            (records, rows, source, total, isTotalEstimated) = ([], [], nil, nil, false)
        }
        do {
            for try await snapshot in query.snapshots {
                (records, rows, source, identity) = (
                    snapshot.records, snapshot.rows, snapshot.source, snapshot.identity
                )
                (total, isTotalEstimated) = (snapshot.total, snapshot.isTotalEstimated)
                isLoaded = true
            }
        } catch is CancellationError {
            // The view has disappeared.
        } catch {
            self.error = error
        }
    }
}
