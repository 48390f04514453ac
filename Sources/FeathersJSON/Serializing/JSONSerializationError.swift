/// A number that JSON cannot represent.
///
/// JavaScript writes `null` instead. This library never changes your values.
public struct JSONSerializationError: Error, Hashable, Sendable {
    /// The path to the number in JavaScript notation, such as `items[3].price`; empty for the outermost value.
    package internal(set) var path: String
    /// The text of the number: `NaN`, `Infinity` or `-Infinity`.
    package let number: String

    /// Returns the same error, relative to the object that contains the value.
    func inside(key: String) -> JSONSerializationError {
        var error = self
        let isIdentifier =
            !key.isEmpty && key.utf8.first.map { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } == false
            && key.allSatisfy { $0 == "_" || $0 == "$" || $0.isLetter || $0.isNumber }
        let step = isIdentifier ? key : "[\(JSONValue.string(key))]"
        error.path = path.isEmpty || path.hasPrefix("[") ? step + path : "\(step).\(path)"
        return error
    }

    /// Returns the same error, relative to the array that contains the value.
    func inside(index: Int) -> JSONSerializationError {
        var error = self
        error.path = path.isEmpty || path.hasPrefix("[") ? "[\(index)]\(path)" : "[\(index)].\(path)"
        return error
    }
}

extension JSONSerializationError: CustomStringConvertible {
    public var description: String { "JSON cannot represent \(number)\(path.isEmpty ? "" : " (at \(path))")" }
}
