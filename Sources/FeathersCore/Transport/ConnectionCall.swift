import FeathersSupport

/// A call that concerns the connection: it signs in, or out, whoever the server takes the connection for.
///
/// It travels in ``Params`` under its own type. A transport with a way beside its connection sends such a call there where no connection
/// stands, whatever the method, since a connection may wait for its end; and says so. Any other transport ignores it.
package final class ConnectionCall: ParamsKey, Sendable {
    package typealias Value = ConnectionCall

    private let onGoingBeside: @Sendable () -> Void
    private let noted = Locked(false)

    /// - Parameter onGoingBeside: hears that the call is about to go beside the connection.
    package init(onGoingBeside: @escaping @Sendable () -> Void = {}) {
        self.onGoingBeside = onGoingBeside
    }

    /// Whether it went beside the connection, which therefore knows nothing of it.
    package var wentBeside: Bool { noted.withLock { $0 } }

    package func goesBeside() {
        noted.withLock { $0 = true }
        onGoingBeside()
    }
}
