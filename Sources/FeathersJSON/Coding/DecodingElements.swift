/// The elements of an array that is being decoded, read from the first to the last.
package enum DecodingElements {
    case tree([JSONValue])
    case text(array: TapeCursor)

    var count: Int {
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

    /// The element at a position; nil at the end.
    @inline(__always)
    func element(at position: Int) -> DecodingSource? {
        switch self {
        case .tree(let array): position < array.count ? .tree(array[position]) : nil
        case .text(let array): position < array.mark.pointee.stride ? .text(array.advanced(by: position)) : nil
        }
    }

    /// The position after an element.
    @inline(__always)
    func position(after position: Int) -> Int {
        switch self {
        case .tree: position + 1
        case .text(let array): position + array.mark[position].stride
        }
    }

    package func map<Result>(_ transform: (DecodingSource) throws -> Result) rethrows -> [Result] {
        switch self {
        case .tree(let array): try array.map { try transform(.tree($0)) }
        case .text(let array): try array.children.map { try transform(.text($0)) }
        }
    }
}
