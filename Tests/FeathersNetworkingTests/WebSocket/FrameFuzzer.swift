@testable import FeathersNetworking

/// A small generator whose runs can be repeated.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: (next() >> 32 &* UInt64(bound)) >> 32)
    }
}

/// Frames that are right, almost right, or noise.
struct FrameFuzzer {
    static let maximumMessageSize = 256

    struct Outcome {
        var incoming = 0
        var violations = 0
        var largest = 0
    }

    private static let templates: [[UInt8]] =
        [
            .text("hi"), .text(""), .text("größer €🙂"), .text(String(repeating: "x", count: 130)),
            .text("a", isFinal: false),
            .binary([1, 2, 3]),
            .binary([], isFinal: false), .binary(.init(repeating: 7, count: 90), isFinal: false),
            .continuation([0xC3], isFinal: false),
            .continuation([0xA4]), .continuation([]), .ping("ping"), ServerFrame(opcode: 10),
            .close(1000, [98, 121, 101]), .close(nil),
            ServerFrame(opcode: 2, statedLength: 1 << 40),
        ].map { (frame: ServerFrame) in frame.bytes }

    private var generator: SplitMix

    init(seed: UInt64) {
        generator = SplitMix(state: seed)
    }

    mutating func mutatedFrames(count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<count { bytes += Self.templates[generator.below(Self.templates.count)] }
        for _ in 0..<generator.below(3) {
            bytes[generator.below(bytes.count)] ^= 1 << UInt8(generator.below(8))
        }
        if generator.below(16) == 0 {
            for index in bytes.indices.suffix(20) { bytes[index] = UInt8(truncatingIfNeeded: generator.next()) }
        }
        return bytes
    }

    mutating func pieces(of count: Int) -> [Int] {
        (0..<8).map { _ in generator.below(count) + 1 } + [.max]
    }

    /// Feeds a run of frames in pieces. After a violation or a close frame, a new receiver reads on from wherever that
    /// was.
    mutating func round(_ outcome: inout Outcome) {
        var receiver = WebSocketReceiver(maximumMessageSize: Self.maximumMessageSize)
        let bytes = mutatedFrames(count: 8)
        bytes.withUnsafeBytes { all in
            var rest = UnsafeRawBufferPointer(all)
            while !rest.isEmpty {
                var piece = rest.removeFirst(atMost: generator.below(bytes.count) + 1)
                while !piece.isEmpty {
                    do throws(WebSocketViolation) {
                        guard let incoming = try receiver.next(&piece) else { break }
                        outcome.incoming += 1
                        if case .message(let message) = incoming {
                            outcome.largest = max(outcome.largest, message.byteCount)
                        }
                        guard case .close = incoming else { continue }
                    } catch {
                        outcome.violations += 1
                    }
                    receiver = WebSocketReceiver(maximumMessageSize: Self.maximumMessageSize)
                }
            }
        }
    }
}
