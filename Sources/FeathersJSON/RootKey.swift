/// One step into an envelope: the key of an object, or the index of an array.
///
/// Write root keys as literals: `["data", "items", 0]`.
public enum RootKey: Hashable, Sendable {
    case key(String)
    case index(Int)
}

extension RootKey: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral value: String) { self = .key(value) }
    public init(integerLiteral value: Int) { self = .index(value) }

    fileprivate var text: String {
        switch self {
        case .key(let key): key
        case .index(let index): String(index)
        }
    }
}

extension JSONValue {
    /// Returns the value that the root keys lead to; the value itself if there are no root keys.
    /// - Throws: ``MissingRootKey``, which names the missing key, the path to it, and what was found: an object's keys
    ///   or an array's count, never values.
    package func unwrapped(by rootKeys: [RootKey]) throws(MissingRootKey) -> JSONValue {
        var value = self
        for (position, step) in rootKeys.enumerated() {
            let next: JSONValue? =
                switch step {
                case .key(let key): value.object?[key]
                case .index(let index): value[index]
                }
            guard let next else { throw MissingRootKey(step, after: rootKeys[..<position], in: value) }
            value = next
        }
        return value
    }
}

package struct MissingRootKey: Error, CustomStringConvertible {
    package let description: String

    init(_ step: RootKey, after path: ArraySlice<RootKey>, in value: JSONValue) {
        let place = path.isEmpty ? "at the top level" : "at '\(path.map(\.text).joined(separator: "."))'"
        let what =
            switch step {
            case .key(let key): "the root key '\(key)'"
            case .index(let index): "the root index \(index)"
            }
        description = "\(what) is missing \(place); found \(Self.outline(of: value))"
    }

    private static func outline(of value: JSONValue) -> String {
        switch value {
        case .object(let object) where object.isEmpty: return "an empty object"
        case .object(let object):
            // Long or numerous keys are data rather than structure.
            let keys = object.keys.prefix(10).map { "'\($0.prefix(40))'" }.joined(separator: ", ")
            return "an object with the keys \(keys)\(object.count > 10 ? " and \(object.count - 10) more" : "")"
        case .array(let array): return "an array of length \(array.count)"
        default: return value.kindName
        }
    }
}
