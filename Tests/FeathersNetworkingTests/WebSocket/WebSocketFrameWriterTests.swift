import Testing

@testable import FeathersNetworking

@Suite("What the client sends is framed and masked")
struct WebSocketFrameWriterTests {
    @Test("as in the example of RFC 6455, section 5.7")
    func example() {
        var queue = OutgoingBytes()
        let key = [0x37, 0xFA, 0x21, 0x3D] as [UInt8]
        Array("Hello".utf8).withUnsafeBytes { payload in
            WebSocketFrameWriter.append(
                .text, payload, key: key.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }, to: &queue)
        }
        #expect(Array(queue.bytes) == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
    }

    @Test(
        "with the shortest length that will do",
        arguments: [0, 1, 7, 8, 9, 15, 16, 17, 124, 125, 126, 127, 255, 65535, 65536, 70001]
    )
    func lengths(count: Int) throws {
        var writer = WebSocketFrameWriter()
        var queue = OutgoingBytes()
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        writer.append(.binary(payload), to: &queue)
        let bytes = Array(queue.bytes)
        let lengthBytes = count < 126 ? 0 : count < 65536 ? 2 : 8
        #expect(bytes[0] == 0x82)
        #expect(bytes[1] == 0x80 | UInt8(lengthBytes == 0 ? count : lengthBytes == 2 ? 126 : 127))
        #expect(lengthBytes == 0 || bytes[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | Int($1) } == count)
        #expect(bytes.count == 2 + lengthBytes + 4 + count)
        let key = Array(bytes[(2 + lengthBytes)...].prefix(4))
        #expect(bytes.dropFirst(6 + lengthBytes).enumerated().map { $1 ^ key[$0 % 4] } == payload)
    }

    @Test("never with the same key twice in a row")
    func keys() {
        var keys = WebSocketMaskKeys()
        let drawn = (0..<1000).map { _ in keys.next() }
        // Two equal ones among a thousand have a chance of one in ten thousand; ten pairs have none.
        #expect(Set(drawn).count > 990)
    }

    @Test("close reasons are cut at a character")
    func reasons() {
        let family = "👨‍👩‍👧‍👦"
        #expect(WebSocketCloseFrame(code: 1000, reason: String(repeating: "a", count: 500)).payload.count == 125)
        #expect(
            WebSocketCloseFrame(code: 1000, reason: String(repeating: "ä", count: 100)).reason
                == String(repeating: "ä", count: 61))
        #expect(
            WebSocketCloseFrame(code: 1000, reason: String(repeating: family, count: 9)).reason
                == String(repeating: family, count: 4))
        #expect(WebSocketCloseFrame(code: 3000, reason: "").payload == [11, 184])
    }
}

@Suite("The queue of outgoing bytes")
struct OutgoingBytesTests {
    @Test("gives back in order what it was given, however it grows, moves and shrinks")
    func order() {
        var generator = SystemRandomNumberGenerator()
        var queue = OutgoingBytes()
        var expected: [UInt8] = []
        var next: UInt8 = 0
        for round in 0..<2000 {
            let count = Int.random(in: 0...(round % 400 == 0 ? 100_000 : 300), using: &generator)
            queue.append(count) { memory in
                for index in memory.indices {
                    memory[index] = next
                    expected.append(next)
                    next &+= 1
                }
            }
            let taken = Int.random(in: 0...queue.count, using: &generator)
            #expect(queue.bytes.prefix(taken).elementsEqual(expected.prefix(taken)))
            queue.removeFirst(taken)
            expected.removeFirst(taken)
            #expect(queue.count == expected.count)
        }
        queue.removeAll()
        #expect(queue.isEmpty && queue.bytes.isEmpty)
    }
}
