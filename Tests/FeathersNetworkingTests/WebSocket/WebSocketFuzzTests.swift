import TestBackend
import Testing

@testable import FeathersNetworking

@Suite("Frames made up at random", .timeLimit(.minutes(10)))
struct WebSocketFuzzTests {
    private static let frames = Environment.count ?? 1_000_000

    @Test("mutated and cut anywhere, neither crash the receiver nor grow beyond the limit")
    func mutated() async {
        var fuzzer = FrameFuzzer(seed: Environment.seed ?? 0x5EED)
        var outcome = FrameFuzzer.Outcome()
        while outcome.incoming + outcome.violations < Self.frames {
            for _ in 0..<200 { fuzzer.round(&outcome) }
            // Other suites measure time.
            await Task.yield()
        }
        // Both kinds of ending were seen often, or the frames are not worth their name.
        #expect(outcome.incoming > Self.frames / 10)
        #expect(outcome.violations > Self.frames / 10)
        #expect(outcome.largest <= FrameFuzzer.maximumMessageSize)
    }

    @Test("give the same messages and the same violation wherever reads cut them", arguments: 0..<200 as Range<UInt64>)
    func splits(seed: UInt64) {
        var fuzzer = FrameFuzzer(seed: seed)
        let bytes = fuzzer.mutatedFrames(count: 12)
        let whole = Received(bytes, maximumMessageSize: 300)
        for _ in 0..<5 {
            #expect(Received(bytes, pieces: fuzzer.pieces(of: bytes.count), maximumMessageSize: 300) == whole)
        }
        #expect(Received(bytes, pieces: [1], maximumMessageSize: 300) == whole)
    }

    @Test("of any size and shape come back as they were sent", arguments: 0..<24 as Range<UInt64>)
    func roundTrips(seed: UInt64) {
        var generator = SplitMix(state: seed)
        var writer = WebSocketFrameWriter()
        var queue = OutgoingBytes()
        let messages = (0..<8).map { _ -> WebSocketMessage in
            let size = [0, 1, 5, 125, 126, 200, 65535, 65536, 70000][generator.below(9)]
            guard generator.below(2) == 0 else { return .binary((0..<size).map { UInt8(truncatingIfNeeded: $0) }) }
            return .text(String(repeating: ["a", "ä", "€", "🙂"][generator.below(4)], count: size / 4))
        }
        for message in messages { writer.append(message, to: &queue) }
        // What a server would make of the masked frames, cut into fragments at random.
        let sent = ClientFrames(Array(queue.bytes)).flatMap { $0.fragmented(at: generator.below($0.payload.count + 1)) }
        let bytes = sent.flatMap(\.bytes)
        var fuzzer = FrameFuzzer(seed: seed)
        for pieces in [[Int.max], [65536], fuzzer.pieces(of: bytes.count)] {
            #expect(Received(bytes, pieces: pieces).incoming == messages.map(WebSocketIncoming.message))
        }
    }

    @Test(
        "in the opening handshake's answer never open a connection they should not", arguments: 0..<500 as Range<UInt64>
    )
    func openings(seed: UInt64) {
        var generator = SplitMix(state: seed)
        let request = WebSocketOpeningRequest(target: "/", host: "h", fields: [], key: "dGhlIHNhbXBsZSBub25jZQ==")
        let head =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        var bytes = Array((head + request.expectedAccept + "\r\n\r\n").utf8)
        let place = generator.below(bytes.count)
        let old = bytes[place]
        bytes[place] = UInt8(truncatingIfNeeded: generator.next())
        var opening = WebSocketOpeningResponse(to: request)
        let opened = bytes.withUnsafeBytes { all in
            var rest = UnsafeRawBufferPointer(all)
            return (try? opening.received(&rest)) ?? false
        }
        // A changed byte may pass where it says nothing (the reason phrase) or the same (another case); never in the
        // proof.
        let isInAccept = place >= head.utf8.count && place < bytes.count - 4
        #expect(!(opened && isInAccept && bytes[place] != old))
    }
}
