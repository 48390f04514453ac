extension Query {
    /// The query as the part of a URL after `?`, byte for byte as Feathers' JavaScript client writes it with `qs`.
    ///
    /// An empty query is an empty string. From a query string, a server gets every value as a string, and null as an empty one.
    ///
    /// - Parameter options: The array format and the limits of the server's parser.
    /// - Throws: ``FeathersError/Code/badRequest``, never sent, if writing the query would lose a condition: for an empty
    ///   array or object (`qs` omits it, so that `{$in: []}` would match everything), and for anything that exceeds the limits
    ///   in `options`. The message names the property.
    public func queryString(_ options: QueryStringOptions = QueryStringOptions()) throws(FeathersError) -> String {
        var encoder = QueryStringEncoder(options: options)
        try encoder.append(json)
        return String(decoding: encoder.bytes, as: UTF8.self)
    }
}

/// How a query is written as a query string, and the limits of the server's parser.
///
/// FeathersJS servers parse query strings with `qs`, which silently changes what exceeds its limits. The limits are therefore
/// checked before anything is sent. The defaults are those of a current Express; nil removes a limit.
public struct QueryStringOptions: Sendable, Hashable {
    /// The format of arrays of plain values.
    public enum ArrayFormat: Sendable, Hashable {
        /// `n[$in][0]=1&n[$in][1]=2`: what Feathers' own client writes.
        case indices
        /// `n[$in][]=1&n[$in][]=2`: older servers accept such arrays at any length. Arrays of objects keep their
        /// indices, since servers merge `$or[][a]` and `$or[][b]` into one object.
        case brackets
    }

    /// The format of arrays of plain values. The default is ``ArrayFormat/indices``.
    public var arrayFormat: ArrayFormat

    /// The maximum number of elements in an array with indices. The default is 1000.
    ///
    /// Servers with an older Express or `qs` turn arrays of more than 20 elements into objects, so that `$in` matches
    /// nothing. For these, set 20, which makes longer arrays an error, or use ``ArrayFormat/brackets``.
    public var arrayLimit: Int?

    /// The maximum number of levels below a property's first. The default is 5, as in `qs`.
    ///
    /// Array indices count: `$or[0][address][city]` has three.
    public var depthLimit: Int?

    /// The maximum number of `key=value` pairs. The default is 1000; `qs` ignores further pairs.
    public var pairLimit: Int?

    /// Creates options. The defaults are the limits of `qs` in FeathersJS.
    public init(arrayFormat: ArrayFormat = .indices, arrayLimit: Int? = 1000, depthLimit: Int? = 5, pairLimit: Int? = 1000) {
        self.arrayFormat = arrayFormat
        self.arrayLimit = arrayLimit
        self.depthLimit = depthLimit
        self.pairLimit = pairLimit
    }
}

extension Query {
    /// Parses a query string as `qs` does: every value is a string, and numbered keys become arrays.
    ///
    /// This is for replaying recorded requests. It has no limits, and an object whose numbered keys do not count up from 0
    /// remains an object, so that writing the query again gives the same bytes.
    package init(parsing text: String) {
        var root = JSONValue.object([:])
        for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = PercentEncoding.decode(pair[..<end]), let value = PercentEncoding.decode(pair[end...].dropFirst()) else {
                continue
            }
            root.insert(.string(value), at: Self.steps(of: name)[...])
        }
        let json = root.object ?? [:]
        self.init(JSONObject(json.map { ($0.key, $0.value.withNumberedKeysAsArrays) }))
    }

    /// Splits `a[b][0]` into `a`, `b` and `0`. A key with unmatched brackets is one step.
    private static func steps(of name: String) -> [String] {
        guard let open = name.firstIndex(of: "["), open != name.startIndex, name.last == "]" else { return [name] }
        var steps = [String(name[..<open])]
        var step = ""
        var depth = 0
        for character in name[open...] {
            switch character {
            case "[":
                if depth > 0 { step.append(character) }
                depth += 1
            case "]":
                depth -= 1
                if depth < 0 { return [name] }
                if depth > 0 { step.append(character) }
                if depth == 0 {
                    steps.append(step)
                    step = ""
                }
            default:
                if depth == 0 { return [name] }
                step.append(character)
            }
        }
        return depth == 0 ? steps : [name]
    }
}

extension JSONValue {
    /// Inserts a value below the given steps. An empty step (`a[]`) is the next number.
    fileprivate mutating func insert(_ value: JSONValue, at steps: ArraySlice<String>) {
        guard let first = steps.first else {
            // A repeated key makes a list of its values.
            if case .object(let object) = self, object.isEmpty { self = value } else { self = .array((array ?? [self]) + [value]) }
            return
        }
        var object = self.object ?? ["0": self]
        self = .null
        let key = first.isEmpty ? String(object.count) : first
        object[key, default: [:]].insert(value, at: steps.dropFirst())
        self = .object(object)
    }

    fileprivate var withNumberedKeysAsArrays: JSONValue {
        guard case .object(let object) = self else { return self }
        let isNumbered = object.enumerated().allSatisfy { $0.element.key == String($0.offset) }
        if isNumbered, !object.isEmpty { return .array(object.map(\.value.withNumberedKeysAsArrays)) }
        return .object(JSONObject(object.map { ($0.key, $0.value.withNumberedKeysAsArrays) }))
    }
}
