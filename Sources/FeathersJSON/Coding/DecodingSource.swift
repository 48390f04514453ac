/// A value to decode: in a tree, or still in its JSON text.
package enum DecodingSource: Sendable {
    case tree(JSONValue)
    /// A value on a tape. The decoding's ``SharedOptions`` keep the tape alive.
    case text(TapeCursor)

    @inline(__always)
    package var isNull: Bool {
        switch self {
        case .tree(let value): value.isNull
        case .text(let cursor): cursor.kind == .null
        }
    }

    @inline(__always)
    var bool: Bool? {
        switch self {
        case .tree(.bool(let bool)): bool
        case .text(let cursor) where cursor.kind == .bool: cursor.entry.pointee.bool
        default: nil
        }
    }

    @inline(__always)
    package var string: String? {
        switch self {
        case .tree(.string(let string)): string
        case .text(let cursor): cursor.string
        default: nil
        }
    }

    /// The bytes of a string without escapes that is still in its text; nil for any other value.
    @inline(__always)
    package var plainBytes: UnsafeBufferPointer<UInt8>? {
        guard case .text(let cursor) = self, cursor.kind == .string else { return nil }
        let entry = cursor.entry.pointee
        return UnsafeBufferPointer(start: cursor.bytes + entry.offset, count: entry.length)
    }

    /// Whether this is a string with exactly these characters, without making a string.
    package func isExactly(_ string: String) -> Bool {
        guard let bytes = plainBytes else { return self.string.map { $0.isExactly(string) } ?? false }
        return string.isExactly(bytes)
    }

    /// An integer written without a fraction.
    @inline(__always)
    package var integer: Int64? {
        switch self {
        case .tree(.integer(let integer)): integer
        case .text(let cursor) where cursor.kind == .integer: cursor.entry.pointee.integer
        default: nil
        }
    }

    /// A number with a fraction, or an integer that does not fit `Int64`.
    @inline(__always)
    var number: Double? {
        switch self {
        case .tree(.number(let number)): number
        case .text(let cursor) where cursor.kind == .number: cursor.entry.pointee.number
        default: nil
        }
    }

    /// The strings of an array that contains only strings. Such arrays are common and need no container.
    var strings: [String]? {
        guard let elements else { return nil }
        var strings: [String] = []
        // Growing takes longer, and leaves room that is never used.
        strings.reserveCapacity(elements.count)
        var position = elements.firstPosition
        while let element = elements.element(at: position) {
            guard let string = element.string else { return nil }
            strings.append(string)
            position = elements.position(after: position)
        }
        return strings
    }

    /// The kind of value, for messages that must not contain the value itself.
    var kindName: String {
        guard case .text(let cursor) = self else { return json.kindName }
        return cursor.kind == .object ? "an object" : cursor.kind == .array ? "an array" : cursor.json.kindName
    }

    /// The value if it is not a container. A container's tree need not be built to know that it is not a number.
    var scalar: JSONValue? {
        if case .text(let cursor) = self, cursor.entry.pointee.isContainer { return nil }
        return json
    }

    package var json: JSONValue {
        switch self {
        case .tree(let value): value
        case .text(let cursor): cursor.json
        }
    }

    /// The members of an object; nil for any other value.
    @inline(__always)
    package var members: DecodingMembers? {
        switch self {
        case .tree(.object(let object)): .tree(object)
        case .text(let cursor) where cursor.kind == .object: .text(object: cursor)
        default: nil
        }
    }

    /// Whether the value is a string.
    package var isString: Bool {
        switch self {
        case .tree(.string): true
        case .text(let cursor): cursor.kind == .string || cursor.kind == .escapedString
        default: false
        }
    }

    /// Whether the value is an array.
    package var isArray: Bool {
        switch self {
        case .tree(.array): true
        case .text(let cursor): cursor.kind == .array
        default: false
        }
    }

    /// The elements of an array; nil for any other value.
    @inline(__always)
    package var elements: DecodingElements? {
        switch self {
        case .tree(.array(let array)): .tree(array)
        case .text(let cursor) where cursor.kind == .array: .text(array: cursor)
        default: nil
        }
    }
}

/// The members of an object that is being decoded.
///
/// A member's position is its index in a tree, or on a tape the distance from the object's entry to the key's entry. Similar records usually
/// have their members at the same positions.
package enum DecodingMembers: Sendable {
    case tree(JSONObject)
    case text(object: TapeCursor)

    var firstPosition: Int {
        switch self {
        case .tree: 0
        case .text: 1
        }
    }

    @inline(__always)
    func position(after position: Int) -> Int {
        switch self {
        case .tree: position + 1
        case .text(let object): position + 1 + object.entry[position + 1].stride
        }
    }

    /// Returns whether the member at a position has the given name. The position may be out of range.
    @inline(__always)
    func hasMember(_ name: String, at position: Int) -> Bool {
        switch self {
        case .tree(let object): position < object.entries.count && object.entries[position].key.isExactly(name)
        case .text(let object):
            position < object.entry.pointee.stride && object.advanced(by: position).isKey(name, depth: object.entry.pointee.depth)
        }
    }

    func position(of name: String) -> Int? {
        switch self {
        case .tree(let object): return object.position(of: name)
        case .text(let object):
            let (depth, end) = (object.entry.pointee.depth, object.entry.pointee.stride)
            var position = 1
            while position < end {
                if object.advanced(by: position).isKey(name, depth: depth) { return position }
                position += 1 + object.entry[position + 1].stride
            }
            return nil
        }
    }

    package var json: JSONObject {
        switch self {
        case .tree(let object): object
        case .text(let object): object.json.object ?? [:]
        }
    }

    package subscript(name: String) -> DecodingSource? { position(of: name).map(value) }

    @inline(__always)
    func value(at position: Int) -> DecodingSource {
        switch self {
        case .tree(let object): .tree(object.entries[position].value)
        case .text(let object): .text(object.advanced(by: position + 1))
        }
    }

    package var names: [(name: String, position: Int)] {
        switch self {
        case .tree(let object): object.entries.enumerated().map { ($1.key, $0) }
        case .text(let object): object.children.map { ($0.string ?? "", $0.entry - object.entry) }
        }
    }
}

package enum DecodingElements {
    case tree([JSONValue])
    case text(array: TapeCursor)

    package var count: Int {
        switch self {
        case .tree(let array): array.count
        case .text(let array): array.children.reduce(0) { count, _ in count + 1 }
        }
    }

    var firstPosition: Int {
        switch self {
        case .tree: 0
        case .text: 1
        }
    }

    /// Returns the element at a position; nil at the end of the array.
    @inline(__always)
    func element(at position: Int) -> DecodingSource? {
        switch self {
        case .tree(let array): position < array.count ? .tree(array[position]) : nil
        case .text(let array): position < array.entry.pointee.stride ? .text(array.advanced(by: position)) : nil
        }
    }

    @inline(__always)
    func position(after position: Int) -> Int {
        switch self {
        case .tree: position + 1
        case .text(let array): position + array.entry[position].stride
        }
    }

    /// Calls a closure with each element. A sequence would be generic code here, at several times the cost.
    package func forEach<Failure: Error>(_ body: (DecodingSource) throws(Failure) -> Void) throws(Failure) {
        var position = firstPosition
        while let element = element(at: position) {
            try body(element)
            position = self.position(after: position)
        }
    }

    package func map<Result>(_ transform: (DecodingSource) throws -> Result) rethrows -> [Result] {
        switch self {
        case .tree(let array): try array.map { try transform(.tree($0)) }
        case .text(let array): try array.children.map { try transform(.text($0)) }
        }
    }
}
