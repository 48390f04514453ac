import FeathersCore
import Foundation

@testable import FeathersSocketIO

/// One entry of a case's `wire`.
enum RecordedEntry: Sendable {
    /// Bytes on the wire; nil where the recording has only what compression made of them.
    typealias Text = String?

    case webSocketRequest(socket: Int, target: String, headers: [(name: String, value: String)])
    case webSocketResponse(socket: Int, status: String)
    case received(socket: Int, Text)
    case sent(socket: Int, Text)
    case receivedClose(socket: Int, code: UInt16)
    case sentClose(socket: Int)
    case webSocketEnd(socket: Int, byServer: Bool)
    case httpRequest(
        number: Int, method: String, target: String, headers: [(name: String, value: String)], body: String?)
    case httpResponse(number: Int, status: Int, body: Text)
    /// The client dropped the request, or what came was no WebSocket.
    case other(kind: String)

    init(_ json: JSONValue) throws(SocketReplayFailure) {
        let socket = Int(json["ws"]?.integer ?? 0)
        let number = Int(json["http"]?.integer ?? 0)
        let isSent = json["dir"]?.string == "c2s"
        let line = (json["line"]?.string ?? "").split(separator: " ").map(String.init)
        let headers = (json["headers"]?.array ?? []).map { (name: $0[0]?.string ?? "", value: $0[1]?.string ?? "") }
        switch (json["kind"]?.string ?? "", json["type"]?.string ?? "") {
        case ("ws-handshake-request", _) where line.count == 3:
            self = .webSocketRequest(socket: socket, target: line[1], headers: headers)
        case ("ws-handshake-response", _):
            self = .webSocketResponse(socket: socket, status: line.dropFirst().first ?? "")
        case ("frame", "text"), ("frame", "binary"):
            let text = Self.whole(json["text"], bytes: json["bytes"])
            self = isSent ? .sent(socket: socket, text) : .received(socket: socket, text)
        case ("frame", "close"):
            let code = json["code"]?.integer.map { UInt16($0) } ?? 1005
            self = isSent ? .sentClose(socket: socket) : .receivedClose(socket: socket, code: code)
        case ("frame", let type): self = .other(kind: "frame \(type)")
        case ("ws-tcp-end", _): self = .webSocketEnd(socket: socket, byServer: json["by"]?.string == "server")
        case ("http-request", _) where line.count == 3:
            let body = Self.whole(json["body"], bytes: json["bodyBytes"])
            self = .httpRequest(number: number, method: line[0], target: line[1], headers: headers, body: body)
        case ("http-response", _):
            let body = Self.whole(json["body"], bytes: json["bodyBytes"])
            self = .httpResponse(number: number, status: Int(json["status"]?.integer ?? 0), body: body)
        case ("raw-bytes-after-101", _): self = .other(kind: "raw-bytes-after-101")
        case ("http-client-abort", _): self = .other(kind: "http-client-abort")
        case (let kind, _): throw SocketReplayFailure("An entry of the unknown kind '\(kind)'")
        }
    }

    /// What stands for the missing middle of a text that was clipped.
    static let clippingMark = " …CLIPPED… "

    /// The text; one that was clipped in its middle is rebuilt to its length. Nil if there is no text, or none that can
    /// be rebuilt.
    private static func whole(_ text: JSONValue?, bytes: JSONValue?) -> String? {
        guard let text = text?.string, !text.hasPrefix("base64:") else { return nil }
        guard let mark = text.range(of: clippingMark) else { return text }
        guard let count = bytes?.integer.map({ Int($0) }),
            let whole = rebuilt(text[..<mark.lowerBound], text[mark.upperBound...], to: count),
            whole.utf8.count == count, whole.split(separator: "\u{1E}").allSatisfy(isPacket)
        else { return nil }
        return whole
    }

    private static func rebuilt(_ lead: Substring, _ trail: Substring, to count: Int) -> String? {
        if let start = lead.range(of: "aé€😀"), let end = trail.range(of: "😀", options: .backwards) {
            let tail = trail[end.upperBound...].drop { $0 == "x" }
            let room = count - lead[..<start.lowerBound].utf8.count - tail.utf8.count
            guard room >= 0 else { return nil }
            let filled = String(repeating: "aé€😀", count: room / 10) + String(repeating: "x", count: room % 10)
            return String(lead[..<start.lowerBound]) + filled + String(tail)
        }
        let filler = String(lead.last ?? "x")
        let room = count - lead.utf8.count - trail.utf8.count
        guard room >= 0 else { return nil }
        return String(lead) + String(repeating: filler, count: room / filler.utf8.count) + String(trail)
    }

    private static func isPacket(_ text: Substring) -> Bool {
        !text.hasPrefix("4") || (try? SocketPacketParser.parse(String(text.dropFirst()))) != nil
    }
}
