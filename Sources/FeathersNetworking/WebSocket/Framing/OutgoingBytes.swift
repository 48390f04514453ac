/// A queue of bytes to send, appended at the end and taken from the front. Its memory is released when a burst is over.
///
/// Unchecked: it is noncopyable and the only owner of its memory, which callers see only during a call.
struct OutgoingBytes: ~Copyable, @unchecked Sendable {
    /// The maximum size of a buffer that is kept while nothing is queued.
    private static let largestKept = 64 << 10

    private var memory: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0

    init() { memory = UnsafeMutableRawBufferPointer(start: nil, count: 0) }

    deinit { memory.deallocate() }

    var count: Int { end - start }
    var isEmpty: Bool { start == end }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[start..<end]) }

    /// Reserves `count` more bytes and passes them, uninitialized, to `fill`, which must write all of them.
    mutating func append(_ count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        reserve(count)
        fill(UnsafeMutableRawBufferPointer(rebasing: memory[end..<(end + count)]))
        end += count
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) { append(bytes.count) { $0.copyMemory(from: bytes) } }

    mutating func removeFirst(_ count: Int) {
        precondition(count <= self.count)
        start += count
        if start == end { removeAll() }
    }

    mutating func removeAll() {
        (start, end) = (0, 0)
        if memory.count > Self.largestKept { replaceMemory(byteCount: 0) }
    }

    private mutating func reserve(_ count: Int) {
        guard memory.count - end < count else { return }
        if memory.count - self.count >= count, start >= self.count {
            // The front half is free, so moving the remaining bytes is cheaper than a new buffer.
            memory.copyMemory(from: bytes)
            (start, end) = (0, self.count)
        } else {
            // An idle connection sends only pongs, so the first buffer is small.
            replaceMemory(byteCount: max(self.count + count, 2 * self.count, memory.isEmpty ? 64 : 512))
        }
    }

    private mutating func replaceMemory(byteCount: Int) {
        let larger =
            byteCount == 0
            ? UnsafeMutableRawBufferPointer(start: nil, count: 0)
            : UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
        if !isEmpty { larger.copyMemory(from: bytes) }
        memory.deallocate()
        memory = larger
        (start, end) = (0, count)
    }
}
