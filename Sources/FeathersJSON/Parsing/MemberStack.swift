/// The members of the objects, and the elements of the arrays, that a parser has not finished.
///
/// They move from here into arrays of exactly the right size, so no array grows while it is filled, and no references
/// are counted: with plain arrays, parsing a page takes 1.2 times as long (measured).
struct MemberStack: ~Copyable {
    private(set) var count = 0
    private var capacity = 0
    /// Allocated by the first `push`, because a text may be a single string or number.
    private var memory: UnsafeMutablePointer<JSONObject.Entry>?

    deinit {
        memory?.deinitialize(count: count)
        memory?.deallocate()
    }

    /// Valid only after the first `push`.
    @inline(__always)
    private var entries: UnsafeMutablePointer<JSONObject.Entry> { memory.unsafelyUnwrapped }

    @inline(__always)
    mutating func push(_ entry: consuming JSONObject.Entry) {
        if count == capacity { grow() }
        (entries + count).initialize(to: entry)
        count &+= 1
    }

    /// Sets the value of the last member.
    @inline(__always)
    mutating func setLast(_ value: consuming JSONValue) {
        // Null, which the member has until then, needs no destruction.
        (entries + (count &- 1)).pointer(to: \.value).unsafelyUnwrapped.initialize(to: value)
    }

    /// Returns whether a member from `first` on has this key.
    func contains(_ key: String, from first: Int) -> Bool {
        var index = first
        while index < count {
            if entries[index].key.isExactly(key) { return true }
            index += 1
        }
        return false
    }

    /// Removes and returns the members of an object.
    mutating func popMembers(from first: Int) -> [JSONObject.Entry] {
        // Not an initializer with uninitialized capacity, which looks up metadata at every call.
        var members: [JSONObject.Entry] = []
        members.reserveCapacity(count - first)
        for index in first..<count { members.append((entries + index).move()) }
        count = first
        return members
    }

    /// Removes and returns the elements of an array.
    mutating func popElements(from first: Int) -> [JSONValue] {
        var elements: [JSONValue] = []
        elements.reserveCapacity(count - first)
        for index in first..<count { elements.append((entries + index).move().value) }
        count = first
        return elements
    }

    private mutating func grow() {
        capacity = max(capacity * 2, 32)
        let larger = UnsafeMutablePointer<JSONObject.Entry>.allocate(capacity: capacity)
        if let memory { larger.moveInitialize(from: memory, count: count) }
        memory?.deallocate()
        memory = larger
    }
}
