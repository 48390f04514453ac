/// Masking, which every frame of a client needs (RFC 6455, section 5.3).
enum WebSocketMask {
    /// Copies `source` to `target`, masked with `key`: its bytes in memory order, as they stand in the frame.
    ///
    /// Eight bytes at a time, in a shape the optimizer turns into vectors: large messages are masked as fast as memory is read.
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
                to.storeBytes(of: from.load(fromByteOffset: offset, as: UInt8.self) ^ key[offset & 3], toByteOffset: offset, as: UInt8.self)
                offset &+= 1
            }
        }
    }
}

/// Masking keys, fresh for every frame and from the system's strong source of randomness (RFC 6455, section 10.3), which is asked for many at a time.
struct WebSocketMaskKeys {
    private var pool: [UInt32] = []

    mutating func next() -> UInt32 {
        if let key = pool.popLast() { return key }
        var source = SystemRandomNumberGenerator()
        pool.reserveCapacity(64)
        for _ in 0..<32 {
            let random: UInt64 = source.next()
            pool.append(UInt32(truncatingIfNeeded: random))
            pool.append(UInt32(truncatingIfNeeded: random >> 32))
        }
        return pool.removeLast()
    }
}
