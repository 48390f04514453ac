/// A stack whose elements can be moved out in runs, into arrays of exactly the right size.
///
/// The parser collects the elements of every open container on one such stack: no array grows while it is filled, and no
/// reference is counted.
struct ScratchStack<Element>: ~Copyable {
    private(set) var count = 0
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int

    init(minimumCapacity: Int) {
        base = .allocate(capacity: minimumCapacity)
        capacity = minimumCapacity
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        (base + count).initialize(to: element)
        count &+= 1
    }

    /// The element at an index below `count`.
    @inline(__always)
    func peek(_ index: Int) -> Element {
        base[index]
    }

    /// Gives up every element from `index` on: whoever gets the pointer has to move `count - index` elements out of it before
    /// the stack is used again.
    @inline(__always)
    mutating func giveUp(from index: Int) -> UnsafeMutablePointer<Element> {
        count = index
        return base + index
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        base = larger
        capacity *= 2
    }
}
