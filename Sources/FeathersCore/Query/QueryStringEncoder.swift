/// Writes a query's pairs one after the other into a buffer.
///
/// The encoded key of the value at hand stands in `key`; going into a value appends to it, coming back cuts it off, so
/// that each part of a key is encoded once however many values are below it.
struct QueryStringEncoder {
    private(set) var bytes: [UInt8] = []
    private var key: [UInt8] = []
    private var path: [QueryStringFailure.Step] = []
    private var pairs = 0
    private let options: QueryStringOptions

    init(options: QueryStringOptions) {
        self.options = options
        bytes.reserveCapacity(256)
        key.reserveCapacity(64)
    }

    mutating func append(_ query: JSONObject) throws(FeathersError) {
        for (name, value) in query {
            // Sorting by nothing is the one empty object that asks for nothing.
            if name == "$sort", value.object?.isEmpty == true { continue }
            key.removeAll(keepingCapacity: true)
            PercentEncoding.append(name, keeping: .unreserved, to: &key)
            path = [.key(name)]
            try append(value)
        }
    }

    private mutating func append(_ value: JSONValue) throws(FeathersError) {
        switch value {
        case .null: try appendPair("")
        case .bool(let bool): try appendPair(bool ? "true" : "false")
        case .integer(let integer): try appendPair(String(integer))
        case .number(let number): try appendPair(number.queryText)
        case .string(let string): try appendPair(string)
        case .array(let array): try append(array)
        case .object(let object): try append(nested: object)
        }
    }

    private mutating func append(nested object: JSONObject) throws(FeathersError) {
        if object.isEmpty { throw QueryStringFailure.emptyObject.error(at: path) }
        for (name, value) in object {
            try descend(.key(name)) { key in
                PercentEncoding.append(name, keeping: .unreserved, to: &key)
            } append: { (encoder) throws(FeathersError) in
                try encoder.append(value)
            }
        }
    }

    private mutating func append(_ array: [JSONValue]) throws(FeathersError) {
        if array.isEmpty { throw QueryStringFailure.emptyArray.error(at: path) }
        let hasBrackets = options.arrayFormat == .brackets && array.allSatisfy(\.isPlain)
        if !hasBrackets, let limit = options.arrayLimit, array.count > limit {
            throw QueryStringFailure.longArray(count: array.count, limit: limit).error(at: path)
        }
        for (index, value) in array.enumerated() {
            try descend(.index(index)) { key in
                if !hasBrackets { key.append(contentsOf: String(index).utf8) }
            } append: { (encoder) throws(FeathersError) in
                try encoder.append(value)
            }
        }
    }

    /// Goes one level down: `key[…]`.
    private mutating func descend(
        _ step: QueryStringFailure.Step,
        appendName: (inout [UInt8]) -> Void,
        append: (inout Self) throws(FeathersError) -> Void
    ) throws(FeathersError) {
        path.append(step)
        // The first step is the key itself.
        if let limit = options.depthLimit, path.count - 1 > limit {
            throw QueryStringFailure.deep(limit: limit).error(at: path)
        }
        let length = key.count
        key.append(contentsOf: "%5B".utf8)
        appendName(&key)
        key.append(contentsOf: "%5D".utf8)
        try append(&self)
        key.removeLast(key.count - length)
        path.removeLast()
    }

    private mutating func appendPair(_ value: String) throws(FeathersError) {
        pairs += 1
        if let limit = options.pairLimit, pairs > limit { throw QueryStringFailure.manyPairs(limit: limit).error(at: path) }
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        bytes.append(contentsOf: key)
        bytes.append(UInt8(ascii: "="))
        PercentEncoding.append(value, keeping: .unreserved, to: &bytes)
    }
}

extension JSONValue {
    /// Whether this is neither an array nor an object.
    fileprivate var isPlain: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }
}

extension Double {
    /// The number as JavaScript's `String(x)` gives it; JSON has no text for the ones that are not finite.
    fileprivate var queryText: String {
        if isNaN { return "NaN" }
        if isInfinite { return self < 0 ? "-Infinity" : "Infinity" }
        if magnitude < 9e15, let integer = Int64(exactly: self) { return String(integer) }
        return JSONValue.number(self).description
    }
}
