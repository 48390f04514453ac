import FeathersREST

/// An event of an event stream.
struct ServerSentEvent: Sendable, Hashable {
    /// The type of the event; empty unless the stream names one.
    var name = ""
    /// The data as received: several `data` lines are joined by line feeds.
    var data: [UInt8]
    /// The ID of the event, or of the last one before it that had an ID.
    var id = ""

    /// The data as text, with U+FFFD in place of malformed UTF-8.
    var text: String { String(decoding: data, as: UTF8.self) }
}

extension EventStreamParser {
    /// Reads the next piece of the stream, and passes every event that it completes to `receive`.
    mutating func read(_ piece: [UInt8], _ receive: (ServerSentEvent) throws -> Void) throws {
        try piece.withUnsafeBytes {
            try readInPlace($0) { try receive(ServerSentEvent(name: $1, data: Array($0), id: $2)) }
        }
    }
}
