import Feathers
import Foundation
import TestBackend
import Testing

/// A recorded case about authentication: what the JavaScript client was told to do, what it sent and was answered, and
/// what came of it.
struct RecordedAuthentication: Sendable, CustomTestStringConvertible {
    struct Exchange: Sendable {
        /// Method and path of the service call, and over HTTP the `Authorization` header.
        var call: JSONValue
        var authorization: String?
        /// The result, or the error in its wire form.
        var answer: JSONValue
        var status: Int?
    }

    let file: String
    let group: String
    let name: String
    /// The JavaScript source of the call.
    let call: String
    let outcome: JSONValue
    let exchanges: [Exchange]

    var isREST: Bool { file == "rest.json" }
    var testDescription: String { "\(file): \(group)/\(name)" }

    static let files = ["rest.json", "socketio-websocket.json", "socketio-polling.json"]

    static let all: [RecordedAuthentication] = (try? loaded.get()) ?? []

    static let loaded = Result {
        try files.flatMap { file in
            let bytes = try Data(contentsOf: WireRecordings.folder.appending(path: file))
            let cases = try JSONValue(parsing: bytes)["cases"]?.array ?? []
            return cases.filter { $0["group"]?.string?.hasPrefix("auth") == true }.map {
                RecordedAuthentication($0, file)
            }
        }
    }

    /// The case every case of somebody signed in starts from.
    var login: RecordedAuthentication? {
        Self.all.first { $0.file == file && ["login local", "login"].contains($0.name) }
    }

    private init(_ json: JSONValue, _ file: String) {
        self.file = file
        group = json["group"]?.string ?? ""
        name = json["name"]?.string ?? ""
        call = json["call"]?.string ?? ""
        outcome = json["outcome"] ?? .null
        exchanges =
            file == "rest.json"
            ? Self.requests(json["exchanges"]?.array ?? []) : Self.packets(json["wire"]?.array ?? [])
    }

    private static func requests(_ exchanges: [JSONValue]) -> [Exchange] {
        exchanges.map { exchange in
            let line = (exchange["request"]?["line"]?.string ?? "").split(separator: " ").map(String.init)
            let body = exchange["request"]?["body"]?.string.flatMap { try? JSONValue(parsing: $0) } ?? .null
            let header = exchange["request"]?["headers"]?.array?.first {
                $0[0]?.string?.lowercased() == "authorization"
            }
            return Exchange(
                call: [.string(line.first ?? ""), .string(line.count > 1 ? line[1] : ""), body],
                authorization: header?[1]?.string,
                answer: exchange["response"]?["body"]?.string.flatMap { try? JSONValue(parsing: $0) } ?? .null,
                status: exchange["response"]?["status"]?.integer.map { Int($0) })
        }
    }

    /// Events with an acknowledgement, in frames or in bodies of requests, each with its answer.
    private static func packets(_ wire: [JSONValue]) -> [Exchange] {
        let texts = wire.flatMap { entry in
            (entry["text"]?.string ?? entry["body"]?.string ?? "").split(separator: "\u{1E}").map(String.init)
        }
        func packet(_ text: String, _ kind: String) -> (id: Substring, json: JSONValue)? {
            guard text.hasPrefix(kind) else { return nil }
            let id = text.dropFirst(2).prefix { $0.isNumber }
            guard !id.isEmpty, let json = try? JSONValue(parsing: String(text.dropFirst(2 + id.count))) else {
                return nil
            }
            return (id, json)
        }
        let answers = texts.compactMap { packet($0, "43") }
        return texts.compactMap { packet($0, "42") }.map { call in
            let answer = answers.first { $0.id == call.id }?.json
            return Exchange(call: call.json, answer: answer ?? .null)
        }
    }
}
