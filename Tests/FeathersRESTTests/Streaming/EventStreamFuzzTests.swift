import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersREST

/// Reads a whole stream at once, word for word as the HTML standard describes it.
private struct ReferenceParser {
    private(set) var events: [ServerSentEvent] = []
    private(set) var lastID = ""

    init(_ stream: [UInt8]) {
        let stream = stream.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(stream.dropFirst(3)) : stream
        var lines: [[UInt8]] = []
        var line: [UInt8] = []
        var index = 0
        while index < stream.count {
            if stream[index] == 13 || stream[index] == 10 {
                lines.append(line)
                line = []
                if stream[index] == 13, index + 1 < stream.count, stream[index + 1] == 10 { index += 1 }
            } else {
                line.append(stream[index])
            }
            index += 1
        }
        var (id, name, data): (String, String, [UInt8]) = ("", "", [])
        for line in lines {
            if line.isEmpty {
                lastID = id
                if !data.isEmpty { events.append(ServerSentEvent(name: name, data: Array(data.dropLast()), id: id)) }
                (name, data) = ("", [])
                continue
            }
            let parts = line.split(separator: 58, maxSplits: 1, omittingEmptySubsequences: false)
            var value = parts.count > 1 ? Array(parts[1]) : []
            if value.first == 32 { value.removeFirst() }
            switch String(decoding: parts[0], as: UTF8.self) {
            case "event": name = String(decoding: value, as: UTF8.self)
            case "data": data += value + [10]
            case "id":
                if !value.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7F }) {
                    id = String(decoding: value, as: UTF8.self)
                }
            default: break
            }
        }
    }
}

@Suite("Event streams that are cut and damaged")
struct EventStreamFuzzTests {
    private static let rounds = Environment.count ?? 5_000

    private static let parts: [[UInt8]] =
        [
            "data: {\"n\":1}", "data:", "data", "data: aé€😀", "event: created", "event", "id: 7", "id", "id: \u{0}",
            "id: \u{1B}", "id: \t",
            "retry: 10",
            ": comment", ":",
            "\n", "\n", "\n\n", "\n\n", "\n\n", "data: x\n", "data: y\n\n", "\r", "\r\n", "\r\n\r\n", "\u{FEFF}",
            "foo: bar", " ", "x",
        ].map { Array($0.utf8) } + [[0xFF], [0xEF], [0xBB], [0xF0, 0x9F]]

    /// What servers of FeathersJS 6 really sent.
    private static let recorded = RecordedStream.all.flatMap(\.bodies).filter { !$0.isEmpty }

    private static func stream(_ generator: inout SeededGenerator) -> [UInt8] {
        var stream: [UInt8] = []
        if Bool.random(using: &generator), let body = recorded.randomElement(using: &generator) {
            // Long enough for two or three events of most recordings.
            stream = Array(body.dropFirst(Int.random(in: 0..<body.count, using: &generator) / 2).prefix(160))
            for _ in 0..<Int.random(in: 0..<4, using: &generator) {
                stream.insert(
                    contentsOf: parts.randomElement(using: &generator) ?? [],
                    at: Int.random(in: 0...stream.count, using: &generator))
            }
        } else {
            for _ in 0..<Int.random(in: 1..<24, using: &generator) {
                stream += parts.randomElement(using: &generator) ?? []
            }
        }
        for _ in 0..<Int.random(in: 0..<3, using: &generator) where !stream.isEmpty {
            stream[Int.random(in: 0..<stream.count, using: &generator)] = .random(in: .min ... .max, using: &generator)
        }
        return stream
    }

    private static func events(of pieces: [[UInt8]]) throws -> (events: [ServerSentEvent], lastID: String) {
        var parser = EventStreamParser(limits: .init(line: 1 << 20, event: 1 << 20))
        var events: [ServerSentEvent] = []
        for piece in pieces { try parser.read(piece) { events.append($0) } }
        return (events, parser.lastEventID)
    }

    @Test("A random stream cut at every offset gives what a naive parser reads from the whole")
    func cuts() async throws {
        var generator = SeededGenerator(seed: Environment.seed ?? 18)
        var found = 0
        for round in 0..<Self.rounds {
            if round % 500 == 0 { await Task.yield() }
            let stream = Self.stream(&generator)
            let expected = ReferenceParser(stream)
            found += expected.events.count
            // At every offset as long as that takes seconds.
            let cuts = round < 5_000 ? Array(0...stream.count) : [Int.random(in: 0...stream.count, using: &generator)]
            for cut in cuts {
                let read = try Self.events(of: [Array(stream[..<cut]), Array(stream[cut...])])
                guard read.events == expected.events, read.lastID == expected.lastID else {
                    Issue.record("round \(round), cut at \(cut): \(stream)")
                    return
                }
            }
            let bytes = try Self.events(of: stream.map { [$0] })
            #expect(bytes.events == expected.events && bytes.lastID == expected.lastID, "byte by byte: \(stream)")
        }
        // Otherwise nothing but silence was compared.
        #expect(found > Self.rounds / 4)
        print("Event streams: \(Self.rounds) mutated streams with \(found) events read alike")
    }

    @Test("A byte order mark, every line end and characters of every length are read alike, cut at any two offsets")
    func twoCuts() throws {
        let stream = Array(
            "\u{FEFF}id: é\revent: 😀\r\ndata: aé€😀\ndata: 😀\r\n\r\ndata: €\r\rdata\n\ndata: b\r\n\rdata: é\n\r\n".utf8)
        let expected = ReferenceParser(stream)
        #expect(expected.events.count == 5)
        for first in 0...stream.count {
            for second in first...stream.count {
                let read = try Self.events(of: [
                    Array(stream[..<first]), Array(stream[first..<second]), Array(stream[second...]),
                ])
                #expect(
                    read.events == expected.events && read.lastID == expected.lastID, "cut at \(first) and \(second)")
            }
        }
    }
}
