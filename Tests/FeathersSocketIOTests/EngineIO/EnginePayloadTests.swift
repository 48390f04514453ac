import Testing

@testable import FeathersSocketIO

@Suite("Engine.IO polling bodies")
struct EnginePayloadTests {
    @Test(
        "hold packets between U+001E",
        arguments: [
            ("6", [EnginePacket.noop]), ("6\u{1E}1", [.noop, .close]), ("4a\u{1E}4b", [.message("a"), .message("b")]),
            ("bAQIDBA==", [.binary([1, 2, 3, 4])]),
            ("4a\u{1E}bAQIDBA==\u{1E}2", [.message("a"), .binary([1, 2, 3, 4]), .ping("")]),
            ("b", [.binary([])]),
        ])
    func read(body: String, packets: [EnginePacket]) throws {
        #expect(try EnginePayload.packets(in: Array(body.utf8)) == packets)
        #expect(EnginePayload.body(of: packets.map(\.frame)) == Array(body.utf8))
    }

    @Test(
        "are refused with the place at fault",
        arguments: [
            ([], EngineCodecError(reason: .empty, offset: 0)),
            (Array("4a\u{1E}".utf8), EngineCodecError(reason: .empty, offset: 3)),
            (Array("\u{1E}4a".utf8), EngineCodecError(reason: .empty, offset: 0)),
            (Array("4a\u{1E}9".utf8), EngineCodecError(reason: .unknownType(0x39), offset: 3)),
            (Array("4a\u{1E}bAQ=".utf8), EngineCodecError(reason: .invalidBase64, offset: 4)),
            (Array("b!".utf8), EngineCodecError(reason: .invalidBase64, offset: 1)),
            ([0x34, 0x61, 0x1E, 0x34, 0xFF], EngineCodecError(reason: .invalidUTF8, offset: 3)),
            (Array("4123456789".utf8), EngineCodecError(reason: .tooLarge(limit: 9), offset: 0)),
        ] as [([UInt8], EngineCodecError)])
    func refused(body: [UInt8], error: EngineCodecError) {
        #expect(throws: error) { try EnginePayload.packets(in: body, limit: 9) }
    }

    @Test("hold 65,536 packets at the most")
    func manyPackets() throws {
        let limit = EnginePayload.maximumPackets
        let body = [UInt8(ascii: "6")] + (0..<limit).flatMap { _ in [EnginePayload.separator, UInt8(ascii: "6")] }
        #expect(try EnginePayload.packets(in: body.dropLast(2)).count == limit)
        let error = EngineCodecError(reason: .tooManyPackets(limit: limit), offset: 2 * limit)
        #expect(throws: error) { try EnginePayload.packets(in: body) }
        #expect("\(error)".contains("more than 65536 packets"))
    }

    @Test(
        "take base64 exactly as RFC 4648 defines it",
        arguments: [
            ("", [UInt8]()), ("Zg==", Array("f".utf8)), ("Zm8=", Array("fo".utf8)), ("Zm9v", Array("foo".utf8)),
            ("Zm9vYg==", Array("foob".utf8)),
            ("+/+/", [0xFB, 0xFF, 0xBF]),
        ])
    func base64(text: String, bytes: [UInt8]) throws {
        let frame = EngineFrame(binary: bytes)
        #expect(try EnginePayload.packets(in: Array("b\(text)".utf8)) == [.binary(bytes)])
        #expect(EnginePayload.body(of: [frame]) == Array("b\(text)".utf8))
        #expect(frame.pollingSize == 1 + text.utf8.count)
    }

    @Test(
        "refuse what is no base64",
        arguments: ["Z", "Zg", "Zg=", "Zg===", "=", "Zg==Zg==", "Z=g=", "Zm9\n", "Zm9v=", "Zm-_"])
    func noBase64(text: String) {
        let error = EngineCodecError(reason: .invalidBase64, offset: 1)
        #expect(throws: error) { try EnginePayload.packets(in: Array("b\(text)".utf8)) }
    }

    @Test("are filled up to the limits of packets and bytes")
    func batches() {
        var queue = PollingQueue(maxPayload: 10)
        queue.append(contentsOf: ["4aaa", "4bbbb", "4cc", "4ddddddddddddddd", "4e"].map { EngineFrame(text: $0) })
        let texts = { (frames: [EngineFrame]) in
            String(decoding: EnginePayload.body(of: frames), as: UTF8.self).split(separator: "\u{1E}")
        }
        #expect(texts(queue.takeBatch()) == ["4aaa", "4bbbb"])
        let batch = queue.takeBatch()
        #expect(texts(batch) == ["4cc"])
        queue.putBack(batch)
        #expect(texts(queue.takeBatch()) == ["4cc"])
        #expect(texts(queue.takeBatch()) == ["4ddddddddddddddd"])
        #expect(texts(queue.takeAll()) == ["4e"])
        let rest = queue.takeBatch()
        #expect(queue.isEmpty && rest.isEmpty)
        queue = PollingQueue(maxPayload: 1_000_000)
        queue.append(contentsOf: (0..<40).map { EngineFrame(text: "4\($0)") })
        let counts = (0..<3).map { _ in queue.takeBatch().count }
        #expect(counts == [16, 16, 8])
    }

    @Test("wait with at most 16 MiB, counting what each takes besides its text, except for a larger one that is alone")
    func queueBytes() {
        var queue = PollingQueue(maxPayload: 1_000_000)
        let large = EngineFrame(text: String(repeating: "x", count: 12 << 20))
        let first = queue.append(contentsOf: [large, large, large])
        #expect(first == 1)
        #expect(queue.takeBatch() == [large])
        let huge = EngineFrame(text: String(repeating: "x", count: 20 << 20))
        let second = queue.append(contentsOf: [huge, EngineFrame(text: "3")])
        #expect(second == 1)
        #expect(queue.takeAll() == [huge])
        let pongs = queue.append(contentsOf: [EngineFrame](repeating: EngineFrame(text: "3"), count: 1 << 20))
        #expect(pongs < 1 << 20)
        // The end of the session is told in any case.
        queue.append(EnginePacket.close.frame)
        #expect(queue.takeAll().count == pongs + 1)
    }
}
