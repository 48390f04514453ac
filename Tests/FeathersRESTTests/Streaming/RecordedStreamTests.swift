import FeathersCore
import FeathersNetworking
import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersREST

/// One recorded case of `http-sse.json` with streams.
struct RecordedStream: Sendable, Hashable, CustomTestStringConvertible {
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

    static let all: [RecordedStream] = WireRecordings.files(of: "http-sse").flatMap { file -> [RecordedStream] in
        guard let data = try? Data(contentsOf: file), let json = try? JSONValue(parsing: Array(data)) else { return [] }
        return (json["cases"]?.array ?? []).map(RecordedStream.init)
    }

    private var isScripted: Bool { json["server"] == "raw" }
    private var hasEventStream: Bool { json["call"]?.string?.contains("sse:") == true }

    /// Whether the client read items, not one result.
    var isStreamed: Bool { json["outcome"]?["yielded"] != nil }

    /// The body of a scripted response.
    var scriptedBody: [UInt8] {
        rawResponse.firstRange(of: Data("\r\n\r\n".utf8)).map { Array(rawResponse[$0.upperBound...]) } ?? []
    }

    /// The requests of a client for event streams, with their responses.
    var openings: [RecordedExchange] {
        let exchanges = (json["exchanges"]?.array ?? []).compactMap { try? RecordedExchange($0) }
        return exchanges.filter { exchange in
            guard let response = exchange.response else { return isScripted }
            return response.isEventStream || exchange.request.target.hasPrefix("/private-sse")
        }
    }

    /// Calls whose responses a scripted server wrote.
    static let scripted = all.filter { $0.isScripted && !$0.hasEventStream }
    /// Clients that opened an event stream.
    static let events = all.filter(\.hasEventStream)
    /// All others whose responses were event streams.
    static let results = all.filter { !$0.isScripted && !$0.hasEventStream && !$0.bodies.isEmpty }
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
        "empty 200": ([.null], false, "an empty result is null, as with 204"),
        "empty 201": ([.null], false, "an empty result is null, as with 204"),
        "205": ([.null], false, "an empty result is null, as with 204"),
        "100 continue first": ([["a": 1]], false, "HTTP allows it before any response"),
        "huge number": ([huge], false, "a number that no Double holds keeps its digits, and is not made infinite"),
    ]

    private static var huge: JSONValue { (try? JSONValue(parsing: #"{"a":12345678901234567890,"b":1e400}"#)) ?? .null }

    @Test("exist")
    func exist() {
        #expect(!RecordedStream.all.isEmpty, "There is no http-sse.json in \(WireRecordings.folder.path())")
    }

    @Test(
        "Responses of a scripted server are read as recorded", .inTurn, .enabled(if: !TestBackend.isSkipped),
        arguments: RecordedStream.scripted)
    func raw(_ one: RecordedStream) async throws {
        var response = ScriptedResponse()
        response.raw = one.rawResponse.base64EncodedString()
        let script = try await ServerScript(response)
        // Not over URLSession: Foundation on Linux ends the process after some malformed responses.
        let service = FeathersApp(transport: .feathers6(script.url) { $0.httpClient = PlatformHTTPClient.make() })
            .service("raw")
        var items: [JSONValue] = []
        var failure: (any Error)?
        do {
            if one.isStreamed {
                for try await item in service.stream(.find) { items.append(item) }
            } else {
                items = [try await service.rawFind()]
            }
        } catch {
            failure = error
        }
        let recorded = one.isStreamed ? one.yielded : one.json["outcome"]?["resolved"].map { [$0] } ?? []
        let expected = Self.differences[one.name].map { ($0.items, $0.isRejected) } ?? (recorded, one.isRejected)
        #expect(items == expected.0)
        #expect((failure != nil) == expected.1, "\(failure.map { "\($0)" } ?? "no error")")
        if let code = one.json["outcome"]?["rejected"]?["code"]?.integer, !one.isStreamed {
            #expect((failure as? FeathersError)?.code.rawValue == Int(code))
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

    @Test("Streamed results give the recorded items, cut at every byte", arguments: RecordedStream.results)
    func results(_ one: RecordedStream) {
        for body in one.bodies {
            let whole = items(of: [body])
            // Two streams at once are not told apart in the outcome.
            if !one.yielded.isEmpty, one.bodies.count == 1 {
                #expect(Array(whole.items.prefix(one.yielded.count)) == one.yielded)
            }
            for cut in 0...min(body.count, 2000) {
                let read = items(of: [Array(body[..<cut]), Array(body[cut...])])
                guard read == whole else {
                    Issue.record("cut at \(cut)")
                    return
                }
            }
        }
    }

    /// Opens a recorded event stream, and returns what it delivered.
    private func replay(_ exchange: RecordedExchange, of one: RecordedStream) async throws -> [String] {
        let parts = exchange.request.target.split(separator: "?", maxSplits: 1)
        let path = String(parts[0].dropFirst())
        let streams = SampleStreams()
        let sink = SampleSink()
        let transport = Feathers6Transport.feathers6(URL(string: "http://sample.test")!) {
            ($0.httpClient, $0.path, $0.query) = (
                streams, path, parts.count > 1 ? Query(parsing: String(parts[1])) : [:]
            )
            $0.headers["Authorization"] = exchange.request.header("authorization")
        }
        transport.deliver(to: sink.sink)
        let running = Task { try await transport.connect() }
        let opening = try await streams.opening(1)
        #expect(opening.request.url.absoluteString == "http://sample.test" + exchange.request.target)
        #expect(opening.request.headers["Authorization"] == exchange.request.header("authorization"))
        if let response = exchange.response, !response.isEventStream {
            opening.refuse(response.status, response.body?.text ?? "")
            await #expect { try await running.value } throws: {
                ($0 as? FeathersError)?.code.rawValue == response.status
            }
            return []
        }
        let body = exchange.response?.body?.bytes ?? one.scriptedBody
        // A frame that is not JSON ends the JavaScript client's connection; here it is skipped.
        let frames = items(of: [body]).items.filter {
            $0["event"] != nil && !($0["event"] == "connected" && $0["path"]?.string == path)
        }
        opening.accept()
        opening.send(String(decoding: body, as: UTF8.self))
        let lines = try await sink.lines(frames.count)
        await transport.disconnect()
        _ = await running.result
        return lines
    }

    @Test("Event streams are opened, and their events delivered, as recorded", arguments: RecordedStream.events)
    func events(_ one: RecordedStream) async throws {
        var heard: [String] = []
        for exchange in one.openings { heard += try await replay(exchange, of: one) }
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

extension JSONValue {
    /// Parses the data of one event.
    init(parsingLossily data: [UInt8]) throws {
        self = try data.withUnsafeBufferPointer { try JSONValue(parsingLossily: $0) }
    }
}
