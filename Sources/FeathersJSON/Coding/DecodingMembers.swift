/// The members of an object that is being decoded.
///
/// A member has a position: in a tree its index, in a text how far its key's mark is from the object's. Members of records that are alike have the
/// same positions, mostly.
package enum DecodingMembers {
    case tree(JSONObject)
    case text(object: TapeCursor)

    var firstPosition: Int {
        switch self {
        case .tree: 0
        case .text: 1
        }
    }

    /// The position after a member.
    @inline(__always)
    func position(after position: Int) -> Int {
        switch self {
        case .tree: position + 1
        case .text(let object): position + 1 + object.mark[position + 1].stride
        }
    }

    /// Whether the member of a name is at a position, which need not be one.
    @inline(__always)
    func hasMember(_ name: String, at position: Int) -> Bool {
        switch self {
        case .tree(let object): position < object.entries.count && object.entries[position].key.isExactly(name)
        case .text(let object):
            position < object.mark.pointee.stride && object.advanced(by: position).isKey(name, depth: object.mark.pointee.depth)
        }
    }

    /// Where the member of a name is.
    func position(of name: String) -> Int? {
        switch self {
        case .tree(let object): return object.position(of: name)
        case .text(let object):
            let (depth, end) = (object.mark.pointee.depth, object.mark.pointee.stride)
            var position = 1
            while position < end {
                if object.advanced(by: position).isKey(name, depth: depth) { return position }
                position += 1 + object.mark[position + 1].stride
            }
            return nil
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

    /// The names in their order, with their positions.
    var names: [(name: String, position: Int)] {
        switch self {
        case .tree(let object): object.entries.enumerated().map { ($1.key, $0) }
        case .text(let object): object.children.map { ($0.string ?? "", $0.mark - object.mark) }
        }
    }
}
