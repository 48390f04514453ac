public import FeathersCore
import FeathersSupport

/// An event the server sent, of a service or not.
public struct SocketIOEvent: Sendable {
    /// The event's name, such as `messages created` for the event of a service.
    public let name: String
    /// The event's arguments. Bytes are Base64 text.
    public let arguments: [JSONValue]
    /// Answers the server; nil if the server did not ask for an acknowledgement.
    public let acknowledgement: SocketIOAcknowledgement?
    /// How many bytes the event came in.
    package let weight: Int
}

extension SocketIOEvent: BufferedEvent {}

/// Answers an event for which the server asked for an acknowledgement.
///
/// Only the first answer is sent, and only over the connection the event came from.
public struct SocketIOAcknowledgement: Sendable {
    private let promise: Promise<Void>
    private let send: @Sendable ([JSONValue]) -> Void

    init(_ send: @escaping @Sendable ([JSONValue]) -> Void) {
        promise = Promise()
        self.send = send
    }

    /// Sends the answer and returns without waiting. An answer with a number that JSON cannot express is not sent but reported
    /// as a ``SocketIODiagnostic``.
    public func callAsFunction(_ arguments: JSONValue...) {
        guard promise.resolve(()) else { return }
        send(arguments)
    }
}

/// A report about something that could not be used or sent.
public struct SocketIODiagnostic: Sendable, CustomStringConvertible {
    /// The kinds of reports.
    public enum Kind: Sendable, Hashable {
        /// An event whose name is not `<path> <event>`, and that has no observer.
        case unknownEvent
        /// An acknowledgement for which no call waits, or no longer.
        case unknownAcknowledgement
        /// The connection was closed since the server violated the protocol.
        case protocolViolation
        /// A message to the server could not be sent.
        case notSent
    }

    /// What happened.
    public let kind: Kind
    /// What happened, in a sentence. Never contains a payload.
    public let description: String
}
