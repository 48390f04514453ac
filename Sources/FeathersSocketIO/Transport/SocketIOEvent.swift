public import FeathersCore
import FeathersSupport
public import Foundation

/// Anything the server sent as an event, of a service or not.
public struct SocketIOEvent: Sendable {
    /// The event's name, `messages created` for a service's.
    public let name: String
    /// What came with it. Bytes stand as base64 text, see ``JSONValue/base64Data``.
    public let arguments: [JSONValue]
    /// Answers the server, where it asked for an answer.
    public let acknowledgement: SocketIOAcknowledgement?
}

/// The answer a server asked for; only the first one given is sent, and only over the connection the question came by.
public struct SocketIOAcknowledgement: Sendable {
    private let promise: Promise<Void>
    private let send: @Sendable ([JSONValue]) -> Void

    init(_ send: @escaping @Sendable ([JSONValue]) -> Void) {
        promise = Promise()
        self.send = send
    }

    /// Sends the answer and returns without waiting for anything; what JSON cannot express is sent as null.
    public func callAsFunction(_ arguments: JSONValue...) {
        guard promise.resolve(()) else { return }
        send(arguments)
    }
}

/// Something that was received and could not be used.
public struct SocketIODiagnostic: Sendable, CustomStringConvertible {
    /// What was wrong with it.
    public enum Kind: Sendable, Hashable {
        /// An event whose name is no `<path> <event>`, and that nobody observes.
        case unknownEvent
        /// An answer nobody waits for, or no longer.
        case unknownAcknowledgement
        /// The connection was closed because of what came.
        case protocolViolation
        /// A message to the server was given up.
        case notSent
    }

    /// What was wrong with it.
    public let kind: Kind
    /// What happened; never a payload.
    public let description: String
}

extension JSONValue {
    /// The bytes of a binary payload, which stands as base64 text; nil for anything else.
    public var base64Data: Data? {
        guard case .string(let text) = self, let bytes = try? Base64.decode(text.utf8) else { return nil }
        return Data(bytes)
    }
}
