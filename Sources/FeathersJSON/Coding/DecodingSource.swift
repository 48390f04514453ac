/// A value to decode: of a tree, or one that still stands in its text.
package enum DecodingSource {
    case tree(JSONValue)
    /// The decoding's ``DecodingOptions`` keep the text.
    case text(TapeCursor)

    @inline(__always)
    var isNull: Bool {
        switch self {
        case .tree(let value): value.isNull
        case .text(let place): place.kind == .null
        }
    }

    @inline(__always)
    var bool: Bool? {
        switch self {
        case .tree(.bool(let bool)): bool
        case .text(let place) where place.kind == .bool: place.mark.pointee.bool
        default: nil
        }
    }

    @inline(__always)
    var string: String? {
        switch self {
        case .tree(.string(let string)): string
        case .text(let place): place.string
        default: nil
        }
    }

    /// An integer that was written as one.
    @inline(__always)
    var integer: Int64? {
        switch self {
        case .tree(.integer(let integer)): integer
        case .text(let place) where place.kind == .integer: place.mark.pointee.integer
        default: nil
        }
    }

    /// A number that was not written as an integer, or as one that does not fit.
    @inline(__always)
    var number: Double? {
        switch self {
        case .tree(.number(let number)): number
        case .text(let place) where place.kind == .number: place.mark.pointee.number
        default: nil
        }
    }

    /// An array of nothing but strings, the commonest of all that are not of objects: it needs no container.
    var strings: [String]? {
        guard let elements else { return nil }
        var strings: [String] = []
        var position = elements.firstPosition
        while let element = elements.element(at: position) {
            guard let string = element.string else { return nil }
            strings.append(string)
            position = elements.position(after: position)
        }
        return strings
    }

    /// What kind of value this is, for messages that must not show the value itself.
    var kindName: String {
        guard case .text(let place) = self else { return json.kindName }
        return place.kind == .object ? "an object" : place.kind == .array ? "an array" : place.json.kindName
    }

    /// The value, where it is neither an array nor an object, whose trees nobody needs to be told that they are no number.
    var scalar: JSONValue? {
        if case .text(let place) = self, place.mark.pointee.isContainer { return nil }
        return json
    }

    /// The value as a tree.
    package var json: JSONValue {
        switch self {
        case .tree(let value): value
        case .text(let place): place.json
        }
    }

    /// The members of an object; nil for any other value.
    @inline(__always)
    package var members: DecodingMembers? {
        switch self {
        case .tree(.object(let object)): .tree(object)
        case .text(let place) where place.kind == .object: .text(object: place)
        default: nil
        }
    }

    /// The elements of an array; nil for any other value.
    @inline(__always)
    package var elements: DecodingElements? {
        switch self {
        case .tree(.array(let array)): .tree(array)
        case .text(let place) where place.kind == .array: .text(array: place)
        default: nil
        }
    }
}
