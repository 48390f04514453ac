#if canImport(Glibc) || canImport(Musl) || canImport(Android)
    import CLinuxIO
#endif

/// Writes client frames, which are unfragmented and masked (RFC 6455, section 5.2).
struct WebSocketFrameWriter {
    private var keys = WebSocketMaskKeys()

    mutating func append(_ message: WebSocketMessage, to queue: inout OutgoingBytes) {
        switch message {
        case .text(var text): text.withUTF8 { append(.text, UnsafeRawBufferPointer($0), to: &queue) }
        case .binary(let bytes): bytes.withUnsafeBytes { append(.binary, $0, to: &queue) }
        }
    }

    mutating func append(_ opcode: WebSocketOpcode, _ payload: [UInt8], to queue: inout OutgoingBytes) {
        payload.withUnsafeBytes { append(opcode, $0, to: &queue) }
    }

    private mutating func append(
        _ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, to queue: inout OutgoingBytes
    ) {
        Self.append(opcode, payload, key: keys.next(), to: &queue)
    }

    static func append(
        _ opcode: WebSocketOpcode, _ payload: UnsafeRawBufferPointer, key: UInt32, to queue: inout OutgoingBytes
    ) {
        let count = payload.count
        let keyOffset = count < 126 ? 2 : count <= Int(UInt16.max) ? 4 : 10
        queue.append(keyOffset + 4 + count) { frame in
            frame[0] = 0x80 | opcode.rawValue
            switch keyOffset {
            case 2: frame[1] = 0x80 | UInt8(count)
            case 4:
                frame[1] = 0x80 | 126
                frame.storeBytes(of: UInt16(count).bigEndian, toByteOffset: 2, as: UInt16.self)
            default:
                frame[1] = 0x80 | 127
                frame.storeBytes(of: UInt64(count).bigEndian, toByteOffset: 2, as: UInt64.self)
            }
            frame.storeBytes(of: key, toByteOffset: keyOffset, as: UInt32.self)
            WebSocketMask.copy(
                payload, to: UnsafeMutableRawBufferPointer(rebasing: frame[(keyOffset + 4)...]), key: key)
        }
    }
}

extension WebSocketMessage {
    package var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

/// Masking, which is required for all client frames (RFC 6455, section 5.3).
enum WebSocketMask {
    /// Copies `source` to `target`, masked with the bytes of `key` in memory order, as they appear in the frame. Works
    /// on eight bytes at a time, in a form that the optimizer vectorizes, so large messages are masked as fast as
    /// memory can be read.
    static func copy(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer, key: UInt32) {
        precondition(target.count >= source.count)
        guard let from = source.baseAddress, let to = target.baseAddress else { return }
        let (count, wide) = (source.count, UInt64(key) | UInt64(key) << 32)
        var offset = 0
        while offset &+ 8 <= count {
            let word = from.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ wide
            to.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        withUnsafeBytes(of: key) { key in
            while offset < count {
                to.storeBytes(
                    of: from.load(fromByteOffset: offset, as: UInt8.self) ^ key[offset & 3], toByteOffset: offset,
                    as: UInt8.self)
                offset &+= 1
            }
        }
    }
}

/// Masking keys, new for every frame and cryptographically random (RFC 6455, section 10.3). They are generated in
/// batches.
struct WebSocketMaskKeys {
    private static let largestBatch = 64

    private var pool: [UInt32] = []
    /// Doubles with use, so that an idle connection keeps few keys.
    private var batch = 4

    mutating func next() -> UInt32 {
        if let key = pool.popLast() { return key }
        pool = [UInt32](repeating: 0, count: batch)
        batch = min(2 * batch, Self.largestBatch)
        guard !fillAtOnce() else { return pool.removeLast() }
        var source = SystemRandomNumberGenerator()
        for index in pool.indices { pool[index] = source.next() }
        return pool.removeLast()
    }

    /// Fills the pool with one system call. The standard library's generator makes one call for each number, which took
    /// 2% of the time of a service call.
    private mutating func fillAtOnce() -> Bool {
        #if canImport(Glibc) || canImport(Musl) || canImport(Android)
            pool.withUnsafeMutableBytes { clinuxio_random($0.baseAddress, $0.count) != 0 }
        #else
            false
        #endif
    }
}
