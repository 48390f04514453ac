import FeathersCore
import Foundation
import TestBackend
import Testing

/// One case of `socketio-websocket.json` or `socketio-polling.json`.
struct RecordedSocketCase: Sendable, CustomTestStringConvertible {
    let file: String
    let group: String
    let name: String
    /// The JavaScript source of what the client did.
    let call: String
    let wire: [RecordedEntry]
    /// Whether the recording left out the middle of a text.
    let isClipped: Bool

    var id: String { "\(group)/\(name)" }
    var testDescription: String { "\(file): \(id)" }

    /// Whether no Socket.IO client was at work, but a script that sends frames and requests by hand.
    var isRaw: Bool { call.contains("rawWs(") || call.contains("raw(") || group == "raw" }

    init(_ json: JSONValue, file: String) throws(SocketReplayFailure) {
        guard let group = json["group"]?.string, let name = json["name"]?.string else {
            throw SocketReplayFailure("A case without a name")
        }
        (self.file, self.group, self.name) = (file, group, name)
        call = json["call"]?.string ?? ""
        isClipped = (json["wire"]?.array ?? []).contains { entry in
            ["text", "body"].contains { entry[$0]?.string?.contains(RecordedEntry.clippingMark) == true }
        }
        var wire: [RecordedEntry] = []
        for entry in json["wire"]?.array ?? [] { wire.append(try RecordedEntry(entry)) }
        self.wire = wire
    }
}

/// The recorded Socket.IO traffic.
enum SocketRecording {
    static let files = ["socketio-websocket.json", "socketio-polling.json"]

    static let loaded = Result {
        try files.flatMap { file in
            let bytes = try Data(contentsOf: WireRecordings.folder.appending(path: file))
            return try (JSONValue(parsing: bytes)["cases"]?.array ?? []).map { try RecordedSocketCase($0, file: file) }
        }
    }

    static var cases: [RecordedSocketCase] { (try? loaded.get()) ?? [] }
}

/// Why a case can not be replayed, in a sentence.
struct SocketReplayFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
