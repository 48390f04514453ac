public import FeathersCore
import FeathersSupport

/// An event from the server, whether or not it belongs to a service.
public struct SocketIOEvent: Sendable {
    /// The event's name, such as `messages created` for a service event.
    public let name: String
    /// The event's arguments. Binary data is represented as Base64 text.
    public let arguments: [JSONValue]
    /// The acknowledgement to send to the server, or nil if the server did not request one.
    public let acknowledgement: SocketIOAcknowledgement?
    /// The number of bytes in which the event arrived.
    package let weight: Int
}

extension SocketIOEvent: BufferedEvent {}

/// A reply to an event for which the server requested an acknowledgement.
///
/// Only the first reply is sent, and only over the connection from which the event came.
public struct SocketIOAcknowledgement: Sendable {
    private let promise: Promise<Void>
    private let send: @Sendable ([JSONValue]) -> Void

    init(_ send: @escaping @Sendable ([JSONValue]) -> Void) {
        promise = Promise()
        self.send = send
    }

    /// Sends the reply and returns without waiting. A reply with a number that JSON cannot represent isn't sent, but is
    /// reported as a ``SocketIODiagnostic``.
    public func callAsFunction(_ arguments: JSONValue...) {
        guard promise.resolve(()) else { return }
        send(arguments)
    }
}

/// A report about something that could not be used or sent.
public struct SocketIODiagnostic: Sendable, CustomStringConvertible {
    /// The kinds of reports.
    public enum Kind: Sendable, Hashable {
        /// An event whose name isn't `<path> <event>`, and that has no observer.
        case unknownEvent
        /// An acknowledgement of a call that isn't waiting for one, or no longer is.
        case unknownAcknowledgement
        /// The connection was closed because the server violated the protocol.
        case protocolViolation
        /// A message to the server could not be sent.
        case notSent
    }

    /// The kind of report.
    public let kind: Kind
    /// A description in one sentence. It never contains a payload.
    public let description: String
}
