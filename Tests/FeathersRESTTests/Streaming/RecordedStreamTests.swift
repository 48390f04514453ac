import FeathersCore
import FeathersNetworking
import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersREST

/// One recorded case of `http-sse.json` with streams.
struct RecordedStream: Sendable, CustomTestStringConvertible {
    let json: JSONValue

    var group: String { json["group"]?.string ?? "" }
    var name: String { json["name"]?.string ?? "" }
    var testDescription: String { "\(group)/\(name)" }
    /// The items that the JavaScript client yielded.
    var yielded: [JSONValue] { json["outcome"]?["yielded"]?.array ?? [] }
    var isRejected: Bool { json["outcome"]?["rejected"] != nil }

    /// The bodies of the recorded event streams, exchange by exchange.
    var bodies: [[UInt8]] {
        (json["exchanges"]?.array ?? []).compactMap { exchange in
            guard let chunks = exchange["response"]?["chunks"]?.array else { return nil }
            if chunks.contains(where: { $0["textClipped"] != nil }) { return nil }
            return Array(chunks.map { $0["text"]?.string ?? "" }.joined().utf8)
        }
    }

    /// The bytes that a scripted server sent, head included.
    var rawResponse: Data {
        var data = Data()
        for segment in json["rawResponse"]?["segments"]?.array ?? [] {
            if let text = segment["text"]?.string { data += Data(text.utf8) }
            if let base64 = segment["base64"]?.string { data += Data(base64Encoded: base64) ?? Data() }
        }
        return data
    }

    static let all: [RecordedStream] = {
        guard let data = try? Data(contentsOf: WireRecordings.folder.appending(path: "http-sse.json")),
            let json = try? JSONValue(parsing: Array(data))
        else { return [] }
        return (json["cases"]?.array ?? []).map(RecordedStream.init)
    }()

    static func cases(of group: String) -> [RecordedStream] { all.filter { $0.group == group } }
}

@Suite("The recorded streams of FeathersJS 6", .timeLimit(.minutes(10)))
struct RecordedStreamTests {
    /// What the JavaScript client yields otherwise, with the reason.
    private static let differences: [String: (items: [JSONValue], isRejected: Bool, reason: String)] = [
        "CRLF": ([["a": 1], ["b": 2]], false, "the standard knows three line ends"),
        "CR": ([["a": 1], ["b": 2]], false, "the standard knows three line ends"),
        "mixed line ends": ([["a": 1], ["b": 2], ["c": 3]], false, "the standard knows three line ends"),
        "type with charset": ([["a": 1]], false, "a media type may have parameters"),
        "type in capitals": ([["a": 1]], false, "media types have no case"),
    ]

    @Test("exist")
    func exist() { #expect(!RecordedStream.all.isEmpty, "There is no http-sse.json in \(WireRecordings.folder.path())") }

    @Test(
        "Responses of a scripted server are read as recorded", .inTurn, .enabled(if: !TestBackend.isSkipped),
        arguments: RecordedStream.cases(of: "sse-raw"))
    func raw(_ one: RecordedStream) async throws {
        var response = ScriptedResponse()
        response.raw = one.rawResponse.base64EncodedString()
        let script = try await ServerScript(response)
        // Not over URLSession: Foundation on Linux ends the process after some malformed responses.
        for client in [PlatformHTTPClient.make()] {
            let app = FeathersApp(transport: .feathers6(script.url) { $0.httpClient = client })
            var items: [JSONValue] = []
            var failure: (any Error)?
            do {
                for try await item in app.service("raw").stream(.find) { items.append(item) }
            } catch {
                failure = error
            }
            let expected = Self.differences[one.name].map { ($0.items, $0.isRejected) } ?? (one.yielded, one.isRejected)
            #expect(items == expected.0, "\(type(of: client))")
            #expect((failure != nil) == expected.1, "\(type(of: client)): \(failure.map { "\($0)" } ?? "no error")")
        }
    }

    private func items(of pieces: [[UInt8]]) -> (items: [JSONValue], isRejected: Bool) {
        var parser = EventStreamParser(limits: .init(line: 1 << 24, event: 1 << 24))
        var items: [JSONValue] = []
        do {
            for piece in pieces { try parser.read(piece) { items.append(try JSONValue(parsingLossily: $0.data)) } }
            return (items, false)
        } catch {
            return (items, true)
        }
    }

    @Test("Streamed results give the recorded items, cut at every byte", arguments: RecordedStream.cases(of: "stream"))
    func results(_ one: RecordedStream) {
        for body in one.bodies {
            let whole = items(of: [body])
            // Two streams at once are not told apart in the outcome.
            if !one.yielded.isEmpty, one.bodies.count == 1 { #expect(Array(whole.items.prefix(one.yielded.count)) == one.yielded) }
            for cut in 0...min(body.count, 2000) {
                let read = items(of: [Array(body[..<cut]), Array(body[cut...])])
                guard read == whole else {
                    Issue.record("cut at \(cut)")
                    return
                }
            }
        }
    }

    @Test("Events are delivered as recorded", arguments: RecordedStream.cases(of: "sse") + RecordedStream.cases(of: "sse-client-raw"))
    func events(_ one: RecordedStream) async throws {
        let path = one.group == "sse" ? "sse" : "raw"
        var bodies = one.bodies
        if one.group == "sse-client-raw", let head = one.rawResponse.firstRange(of: Data("\r\n\r\n".utf8)) {
            bodies = [Array(one.rawResponse[head.upperBound...])]
        }
        var heard: [String] = []
        for body in bodies {
            var delivered = 0
            let frames = items(of: [body]).items
            // A frame that is no JSON ends the JavaScript client's connection; here it is skipped.
            for frame in frames where !(frame["event"] == "connected" && frame["path"]?.string == path) {
                delivered += frame["event"] == nil ? 0 : 1
            }
            let streams = SampleStreams()
            let sink = SampleSink()
            let transport = Feathers6Transport.feathers6(URL(string: "http://sample.test")!) { ($0.httpClient, $0.path) = (streams, path) }
            transport.deliver(to: sink.sink)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await transport.run() }
                let opening = try await streams.opening(1)
                opening.accept()
                opening.send(String(decoding: body, as: UTF8.self))
                _ = try await sink.lines(delivered)
                await transport.disconnect()
                try await group.waitForAll()
            }
            heard += sink.lines
        }
        for event in one.json["events"]?.array ?? [] {
            guard let service = event["service"]?.string, let name = event["event"]?.string,
                !["connected", "disconnected", "reconnecting", "error"].contains(name)
            else { continue }
            // The recorder names the second client, and has a word for what JSON cannot say.
            let data = event["data"] == ["undefined": true] ? .null : event["data"] ?? .null
            let line = "\(service) \(name.prefix { $0 != " " }) \(data)"
            #expect(heard.contains(line), "\(line) is missing from \(heard)")
        }
    }
}
