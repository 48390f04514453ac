public import Observation

/// A live query for views: its records and its failure, observed by SwiftUI.
///
/// ```swift
/// @State private var messages = LiveQueryModel(app.service("messages", of: Message.self).live(.sorted(by: "createdAt")))
/// var body: some View {
///     List(messages.records) { Text($0.text) }
///         .task { await messages.run() }
/// }
/// ```
@MainActor @Observable
public final class LiveQueryModel<Element: Sendable> {
    /// The current result, or the last known one after a failure.
    public private(set) var records: [Element] = []
    /// Whether a result has arrived since the model last began to run.
    public private(set) var isLoaded = false
    /// Why the query ended; nil while it runs and after a cancellation.
    public private(set) var error: (any Error)?

    @ObservationIgnored private let query: LiveQuery<Element>

    /// A model of a live query. It does nothing until you call ``run()``.
    public init(_ query: LiveQuery<Element>) { self.query = query }

    /// Keeps the records current until the task is cancelled or the query fails. You can run it again afterwards.
    public func run() async {
        (isLoaded, error) = (false, nil)
        do {
            for try await records in query {
                self.records = records
                isLoaded = true
            }
        } catch is CancellationError {
            // The view has disappeared.
        } catch {
            self.error = error
        }
    }
}
