import FeathersCore
import FeathersTesting
import Testing

@testable import FeathersSocketIO

@Suite("The decoders")
struct PacketFuzzTests {
    /// A million where the optimizer helps; what takes a few seconds otherwise.
    private static let rounds: Int = {
        var isDebug = false
        assert(
            {
                isDebug = true; return true
            }())
        return isDebug ? 40_000 : 1_000_000
    }()

    private static let seeds = [
        "40", #"40{"sid":"s","pid":"p"}"#, #"44{"message":"m","data":{}}"#, "41",
        #"42["messages created",{"id":1,"text":"aé€😀"},"offset"]"#,
        #"4312[null,{"total":1,"data":[{"a":[1,2.5,-3e4,null,true]}]}]"#,
        #"452-/x,7["a",{"_placeholder":true,"num":1},{"_placeholder":true,"num":0}]"#,
        #"461-0[{"_placeholder":true,"num":0}]"#, "2", "3probe", "6", "1", "5",
        #"0{"sid":"s","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#,
        "bAQIDBA==",
        "4a\u{1E}bAQIDBA==\u{1E}2",
    ].map { Array($0.utf8) }

    @Test("survive random and mutated frames, and so do the sessions behind them")
    func survive() async {
        var generator = SeededGenerator(seed: 1)
        var decoder = SocketPacketDecoder(limits: .init(attachments: 10, bytes: 1 << 20))
        var session = SocketSession()
        var engine = EngineSession(
            handshake: EngineHandshake(sid: "s", pingInterval: .seconds(1), pingTimeout: .seconds(1), maxPayload: 100),
            now: .zero)
        var understood = 0
        for round in 0..<Self.rounds {
            if round % 16 == 0 { _ = session.engineOpened(auth: nil) }
            // Other suites measure time.
            if round % 200 == 0 { await Task.yield() }
            guard let packets = try? EnginePayload.packets(in: frame(&generator), limit: 1 << 20) else { continue }
            for packet in packets {
                if case .open(let text) = packet { _ = try? EngineHandshake(parsing: text) }
                _ = engine.received(packet, now: .seconds(round % 4))
                if engine.isClosed { engine = EngineSession(handshake: engine.handshake, now: .zero) }
                guard let received = feed(packet, &decoder) else { continue }
                _ = session.received(received)
                understood += 1
            }
        }
        // Otherwise nothing but refusals was tested.
        #expect(understood > Self.rounds / 50)
    }

    private func feed(_ packet: EnginePacket, _ decoder: inout SocketPacketDecoder) -> SocketPacket? {
        do {
            switch packet {
            case .message(let text): return try decoder.received(text)
            case .binary(let bytes): return try decoder.received(attachment: bytes)
            default: return nil
            }
        } catch {
            decoder = SocketPacketDecoder(limits: .init(attachments: 10, bytes: 1 << 20))
            return nil
        }
    }

    private func frame(_ generator: inout SeededGenerator) -> [UInt8] {
        if Int.random(in: 0..<8, using: &generator) == 0 {
            return (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
        }
        var frame = Self.seeds[Int.random(in: 0..<Self.seeds.count, using: &generator)]
        for _ in 0..<Int.random(in: 0..<4, using: &generator) {
            let place = Int.random(in: 0...frame.count, using: &generator)
            let byte =
                Bool.random(using: &generator)
                ? UInt8.random(in: .min ... .max, using: &generator)
                : Array(#"0123456789-/,[]{}":b\#u{1E}"#.utf8).randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: frame.insert(byte, at: place)
            case 1: if place < frame.count { frame.remove(at: place) }
            case 2: if place < frame.count { frame[place] = byte }
            default:
                frame =
                    Array(frame[..<place])
                    + Self.seeds[Int.random(in: 0..<Self.seeds.count, using: &generator)].dropFirst(
                        Int.random(in: 0..<8, using: &generator))
            }
        }
        return frame
    }
}
