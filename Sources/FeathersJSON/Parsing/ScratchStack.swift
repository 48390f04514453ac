/// A stack whose elements can be moved out in runs, into arrays of exactly the right size.
///
/// The parser collects the elements of all open containers on one stack, so no array grows while it is filled and no references
/// are counted.
struct ScratchStack<Element>: ~Copyable {
    private(set) var count = 0
    private var memory: UnsafeMutableBufferPointer<Element>
    private var ownsMemory = false
    private let minimumCapacity: Int

    /// Creates a stack in memory that outlives it, by default none, because a text may be a single string or number. What doesn't fit is allocated.
    init(minimumCapacity: Int, startingIn memory: UnsafeMutableBufferPointer<Element> = UnsafeMutableBufferPointer(start: nil, count: 0)) {
        (self.minimumCapacity, self.memory) = (minimumCapacity, memory)
    }

    deinit {
        memory.baseAddress?.deinitialize(count: count)
        if ownsMemory { memory.deallocate() }
    }

    /// Valid only after the first `push`.
    @inline(__always)
    private var elements: UnsafeMutablePointer<Element> { memory.baseAddress.unsafelyUnwrapped }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == memory.count { grow() }
        (elements + count).initialize(to: element)
        count &+= 1
    }

    @inline(__always)
    func peek(_ index: Int) -> Element { elements[index] }

    @inline(__always)
    mutating func replace(_ index: Int, with element: consuming Element) {
        // Does not assign through the unwrapped pointer, which the compiler cannot build with the thread sanitizer.
        (elements + index).update(repeating: element, count: 1)
    }

    /// Removes every element from `index` on. The caller must move the `count - index` elements out of the returned pointer
    /// before it uses the stack again.
    @inline(__always)
    mutating func giveUp(from index: Int) -> UnsafeMutablePointer<Element> {
        count = index
        return elements + index
    }

    private mutating func grow() {
        let larger = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(memory.count * 2, minimumCapacity))
        if let elements = memory.baseAddress { larger.baseAddress?.moveInitialize(from: elements, count: count) }
        if ownsMemory { memory.deallocate() }
        (memory, ownsMemory) = (larger, true)
    }
}
