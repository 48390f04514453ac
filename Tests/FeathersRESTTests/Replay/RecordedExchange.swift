import FeathersCore
import Foundation

/// One request and its answer, as recorded.
struct RecordedExchange: Sendable {
    let request: RecordedRequest
    /// Nil where the client gave up first.
    let response: RecordedResponse?

    init(_ json: JSONValue) throws(ReplayFailure) {
        guard let request = json["request"] else { throw ReplayFailure("An exchange without request") }
        self.request = try RecordedRequest(request)
        response = try json["response"].flatMap { json throws(ReplayFailure) in
            json.isNull ? nil : try RecordedResponse(json)
        }
    }

    /// Where the answer redirects to, as a request target on the same server.
    var redirectTarget: String? {
        guard let response, (301...308).contains(response.status) else { return nil }
        return response.headers.first { $0.name.lowercased() == "location" }?.value
    }
}

struct RecordedRequest: Sendable {
    let method: String
    /// The request target, byte for byte.
    let target: String
    let headers: [RecordedField]
    let body: RecordedBody?

    init(_ json: JSONValue) throws(ReplayFailure) {
        let parts = json["line"]?.string?.split(separator: " ") ?? []
        guard parts.count >= 3 else { throw ReplayFailure("A request without a request line") }
        method = String(parts[0])
        target = parts[1..<(parts.count - 1)].joined(separator: " ")
        headers = RecordedField.list(json["headers"])
        body = RecordedBody(json)
    }

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

struct RecordedResponse: Sendable {
    let status: Int
    let headers: [RecordedField]
    let body: RecordedBody?
    /// The parsed body, where the recording has it.
    let json: JSONValue?
    /// How the response ended: `complete`, `cut`, `client-abort`, `open`…; nil in recordings of version 5.
    let end: String?

    init(_ json: JSONValue) throws(ReplayFailure) {
        guard let status = json["status"]?.integer else { throw ReplayFailure("A response without status") }
        self.status = Int(status)
        headers = RecordedField.list(json["headers"])
        body = json["chunks"]?.array.map(RecordedBody.init(chunks:)) ?? RecordedBody(json)
        self.json = json["json"]
        end = json["end"]?.string
    }

    var isEventStream: Bool {
        headers.contains { $0.name.lowercased() == "content-type" && $0.value.hasPrefix("text/event-stream") }
    }

    /// The items that the JavaScript client reads from an event stream, up to the first one that is not JSON.
    var items: [JSONValue] {
        var items: [JSONValue] = []
        for frame in (body?.text ?? "").components(separatedBy: "\n\n").dropLast() {
            guard let line = frame.split(separator: "\n").first(where: { $0.hasPrefix("data: ") }) else { continue }
            guard let item = try? JSONValue(parsing: Array(line.dropFirst(6).utf8)) else { break }
            items.append(item)
        }
        return items
    }

    var isCompressed: Bool {
        headers.contains { $0.name.lowercased() == "content-encoding" && $0.value.lowercased() != "identity" }
    }

    /// The bytes of the body after decompression; nil where the recording does not have them.
    var content: [UInt8]? {
        guard let body else { return [] }
        if body.isWhole, !isCompressed { return body.bytes }
        return json.flatMap { $0["clippedJson"] == nil ? try? $0.serialized() : nil }
    }

    /// What the answer says, where it is JSON.
    var value: JSONValue? {
        content.flatMap { try? JSONValue(parsing: $0) } ?? json
    }
}

struct RecordedField: Sendable, Hashable {
    let name: String
    let value: String

    static func list(_ json: JSONValue?) -> [RecordedField] {
        (json?.array ?? []).compactMap { field in
            guard let name = field[0]?.string, let value = field[1]?.string else { return nil }
            // The server's own address is masked in recordings; without it, it means the same.
            let isOwn = name.lowercased() == "location" && value.hasPrefix("http://127.0.0.1:PORT/")
            return RecordedField(
                name: name, value: isOwn ? String(value.dropFirst("http://127.0.0.1:PORT".count)) : value)
        }
    }
}
