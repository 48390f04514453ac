/// A stack whose elements can be moved out in runs, into arrays of exactly the right size.
///
/// The parser collects the elements of every open container on one such stack: no array grows while it is filled, and no
/// reference is counted.
struct ScratchStack<Element>: ~Copyable {
    private(set) var count = 0
    /// Nothing is allocated before the first element comes: strings and numbers stand alone, too.
    private var memory = UnsafeMutableBufferPointer<Element>(start: nil, count: 0)
    private let minimumCapacity: Int

    init(minimumCapacity: Int) {
        self.minimumCapacity = minimumCapacity
    }

    deinit {
        memory.baseAddress?.deinitialize(count: count)
        memory.deallocate()
    }

    /// Where the elements are; there is none before the first one has come.
    @inline(__always)
    private var elements: UnsafeMutablePointer<Element> { memory.baseAddress.unsafelyUnwrapped }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == memory.count { grow() }
        (elements + count).initialize(to: element)
        count &+= 1
    }

    /// The element at an index below `count`.
    @inline(__always)
    func peek(_ index: Int) -> Element {
        elements[index]
    }

    /// Puts an element in the place of the one at an index below `count`.
    @inline(__always)
    mutating func replace(_ index: Int, with element: consuming Element) {
        // A change in place of what an unwrapped pointer points to is too much for the compiler with the thread sanitizer.
        (elements + index).update(repeating: element, count: 1)
    }

    /// Gives up every element from `index` on: whoever gets the pointer has to move `count - index` elements out of it before
    /// the stack is used again.
    @inline(__always)
    mutating func giveUp(from index: Int) -> UnsafeMutablePointer<Element> {
        count = index
        return elements + index
    }

    private mutating func grow() {
        let larger = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(memory.count * 2, minimumCapacity))
        if let elements = memory.baseAddress { larger.baseAddress?.moveInitialize(from: elements, count: count) }
        memory.deallocate()
        memory = larger
    }
}
