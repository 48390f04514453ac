public import FeathersCore
public import FeathersSocketIO

extension DiagnosticEvent {
    /// Creates a connection event from input that a Socket.IO connection could not use.
    ///
    /// ```swift
    /// options.onDiagnostic = { sink.receive(DiagnosticEvent($0)) }
    /// ```
    public init(_ diagnostic: SocketIODiagnostic) {
        self.init(.warning, .connection, diagnostic.description, ["kind": "\(diagnostic.kind)"])
    }
}
