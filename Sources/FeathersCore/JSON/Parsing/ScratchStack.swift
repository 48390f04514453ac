/// A stack whose elements can be moved out in runs, into arrays of exactly the right size.
///
/// The parser collects the elements of every open container on one such stack: no array grows while it is filled, and no
/// reference is counted.
struct ScratchStack<Element>: ~Copyable {
    private(set) var count = 0
    /// Nothing is allocated before the first element comes: strings and numbers stand alone, too.
    private var base: UnsafeMutablePointer<Element>?
    private var capacity = 0
    private let minimumCapacity: Int

    init(minimumCapacity: Int) {
        self.minimumCapacity = minimumCapacity
    }

    deinit {
        base?.deinitialize(count: count)
        base?.deallocate()
    }

    /// Where the elements are; there is none before the first one has come.
    @inline(__always)
    private var elements: UnsafeMutablePointer<Element> { base.unsafelyUnwrapped }

    @inline(__always)
    mutating func push(_ element: consuming Element) {
        if count == capacity { grow() }
        (elements + count).initialize(to: element)
        count &+= 1
    }

    /// The element at an index below `count`.
    @inline(__always)
    func peek(_ index: Int) -> Element {
        elements[index]
    }

    /// Changes the element at an index below `count`.
    @inline(__always)
    mutating func change(_ index: Int, _ body: (inout Element) -> Void) {
        body(&elements[index])
    }

    /// Gives up every element from `index` on: whoever gets the pointer has to move `count - index` elements out of it before
    /// the stack is used again.
    @inline(__always)
    mutating func giveUp(from index: Int) -> UnsafeMutablePointer<Element> {
        count = index
        return elements + index
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: max(capacity * 2, minimumCapacity))
        if let base {
            larger.moveInitialize(from: base, count: count)
            base.deallocate()
        }
        base = larger
        capacity = max(capacity * 2, minimumCapacity)
    }
}
