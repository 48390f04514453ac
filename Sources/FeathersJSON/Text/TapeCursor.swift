/// A value in a marked text.
///
/// Two bare pointers, since decoding copies them at every step: whoever keeps a place keeps the ``JSONTape`` too.
package struct TapeCursor {
    let mark: UnsafePointer<TapeEntry>
    let bytes: UnsafePointer<UInt8>

    @inline(__always)
    var kind: TapeEntry.Kind { mark.pointee.kind }

    /// The place some marks further.
    @inline(__always)
    func advanced(by marks: Int) -> TapeCursor { TapeCursor(mark: mark + marks, bytes: bytes) }

    /// A string, or a key; nil for any other value.
    @inline(__always)
    var string: String? {
        let kind = kind
        if kind == .string || kind == .key { return plainString }
        return kind == .escapedString ? unescapedString : nil
    }

    @inline(__always)
    private var plainString: String {
        let mark = mark.pointee
        return String(decoding: UnsafeBufferPointer(start: bytes + mark.offset, count: mark.length), as: UTF8.self)
    }

    /// The escapes were all found to be good when the text was marked.
    private var unescapedString: String? {
        let mark = mark.pointee
        let quoted = UnsafeBufferPointer(start: bytes + mark.offset - 1, count: mark.length + 2)
        return JSONTreeBuilder.string(in: quoted)
    }

    /// Whether this is a key of an object at a depth, and that one.
    @inline(__always)
    func isKey(_ key: String, depth: Int) -> Bool {
        let mark = mark.pointee
        guard mark.kind == .key, mark.depth == depth, mark.length == key.utf8.count else { return false }
        let isEqual = key.utf8.withContiguousStorageIfAvailable { key in
            guard let key = key.baseAddress else { return true }
            return haveEqualBytes(key, bytes + mark.offset, count: mark.length)
        }
        return isEqual ?? plainString.utf8.elementsEqual(key.utf8)
    }
}

extension TapeCursor {
    /// The elements of an array, or the keys of an object.
    var children: some Sequence<TapeCursor> {
        let isObject = kind == .object
        let end = mark + mark.pointee.stride
        return sequence(state: advanced(by: 1)) { (next: inout TapeCursor) -> TapeCursor? in
            guard next.mark < end else { return nil }
            defer { next = isObject ? next.advanced(by: 1 + next.mark[1].stride) : next.advanced(by: next.mark.pointee.stride) }
            return next
        }
    }

    /// The tree of the value.
    var json: JSONValue {
        let mark = mark.pointee
        // By the parser, which is quicker than the marks are, and needs no more of the stack the deeper a value is.
        if mark.isContainer {
            let text = UnsafeBufferPointer(start: bytes + mark.offset, count: mark.length)
            return (try? JSONTreeBuilder.tree(of: text, maximumDepth: JSONValue.depthCeiling)) ?? .null
        }
        switch mark.kind {
        case .bool: return .bool(mark.bool)
        case .integer: return .integer(mark.integer)
        case .number: return .number(mark.number)
        case .null: return .null
        default: return .string(string ?? "")
        }
    }
}
