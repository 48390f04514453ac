/// Bytes that are written one after the other, into memory that doubles when it is full.
struct ByteBuffer: ~Copyable {
    private(set) var count = 0
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int

    init(minimumCapacity: Int) {
        base = .allocate(capacity: minimumCapacity)
        capacity = minimumCapacity
    }

    deinit {
        base.deallocate()
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        base[count] = byte
        count &+= 1
    }

    @inline(__always)
    mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        (base + count).initialize(from: source, count: bytes.count)
        count &+= bytes.count
    }

    @inline(__always)
    mutating func append(_ literal: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Makes room for `additional` bytes.
    @inline(__always)
    mutating func reserve(_ additional: Int) {
        if capacity &- count < additional { grow(by: additional) }
    }

    private mutating func grow(by additional: Int) {
        let newCapacity = max(capacity * 2, count + additional)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
        capacity = newCapacity
    }

    /// What has been written so far; the buffer must not be written to inside `body`.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        body(UnsafeBufferPointer(start: base, count: count))
    }
}
