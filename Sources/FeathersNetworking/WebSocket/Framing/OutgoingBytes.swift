/// A queue of bytes to send: appended at the end, taken from the front. Its memory is released once a burst is over.
///
/// Unchecked: it is noncopyable and the only owner of its memory, which callers see only during a call.
struct OutgoingBytes: ~Copyable, @unchecked Sendable {
    /// A larger buffer is not kept while nothing is queued.
    private static let largestKept = 64 << 10

    private var memory: UnsafeMutableRawBufferPointer
    private var start = 0
    private var end = 0

    init() { memory = UnsafeMutableRawBufferPointer(start: nil, count: 0) }

    deinit { memory.deallocate() }

    var count: Int { end - start }
    var isEmpty: Bool { start == end }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[start..<end]) }

    /// Makes room for `count` more bytes and gives it, uninitialized, to `fill`, which writes all of them.
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
            // The front half is free: moving what is left is cheaper than a new buffer.
            memory.copyMemory(from: bytes)
            (start, end) = (0, self.count)
        } else {
            replaceMemory(byteCount: max(self.count + count, 2 * self.count, 512))
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
