public import Observation

/// The connection of an app for SwiftUI views.
///
/// ```swift
/// @State private var connection = ConnectionModel(app)
/// var body: some View {
///     Text(connection.isOnline ? "Online" : "Offline")
///         .task { await connection.run() }
/// }
/// ```
@MainActor @Observable
public final class ConnectionModel {
    /// The status of the connection; nil if the app's transport has none, as REST.
    public private(set) var status: ConnectionStatus?
    /// Whether the connection is open. Without a connection, whether the last call has reached the server: see
    /// ``FeathersApp/health``.
    public private(set) var isOnline = false

    @ObservationIgnored private let app: FeathersApp

    /// Creates a model of an app's connection. It is not online until you call ``run()``, and connects nothing itself.
    public init(_ app: FeathersApp) {
        self.app = app
        status = app.connectionStatus
    }

    /// Follows the connection until the task is cancelled.
    public func run() async {
        if status == nil {
            for await health in app.healthUpdates() { isOnline = health.state != .unreachable }
        } else {
            for await status in app.connectionStatusUpdates() {
                (self.status, isOnline) = (status, status.isConnected)
            }
        }
        isOnline = false
    }
}

extension ConnectionStatus {
    /// Whether the connection is open.
    public var isConnected: Bool { if case .connected = self { true } else { false } }
}
