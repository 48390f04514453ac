public import FeathersCore
public import FeathersSocketIO

extension DiagnosticEvent {
    /// What a Socket.IO connection received and could not use, as an event of the connection.
    ///
    /// ```swift
    /// options.onDiagnostic = { sink.receive(DiagnosticEvent($0)) }
    /// ```
    public init(_ diagnostic: SocketIODiagnostic) {
        self.init(.warning, .connection, diagnostic.description, ["kind": "\(diagnostic.kind)"])
    }
}
