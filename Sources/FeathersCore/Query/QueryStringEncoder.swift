/// An encoder that writes a query's pairs into a buffer.
///
/// `key` is the encoded key of the current value. Descending appends to it, and returning truncates it, so that each
/// part of a key is encoded only once.
struct QueryStringEncoder {
    /// A step on the path from the query to a value.
    private enum Step {
        case key(String)
        case index(Int)
    }

    private(set) var bytes: [UInt8] = []
    private var key: [UInt8] = []
    private var path: [Step] = []
    private var pairs = 0
    private let options: QueryStringOptions

    init(options: QueryStringOptions) {
        self.options = options
        bytes.reserveCapacity(256)
        key.reserveCapacity(64)
    }

    mutating func append(_ query: JSONObject) throws(FeathersError) {
        for (name, value) in query {
            // Only an empty `$sort` can be omitted without losing a condition.
            if name == "$sort", value.object?.isEmpty == true { continue }
            key.removeAll(keepingCapacity: true)
            PercentEncoding.append(name, keeping: .unreserved, to: &key)
            path.removeAll(keepingCapacity: true)
            path.append(.key(name))
            try append(value)
        }
    }

    private mutating func append(_ value: JSONValue) throws(FeathersError) {
        switch value {
        case .null: try appendPair("")
        case .bool(let bool): try appendPair(bool ? "true" : "false")
        case .integer(let integer): try appendPair(String(integer))
        // Numbers in the format of JavaScript's `String(x)`, including infinities and NaN.
        case .number, .decimal: try appendPair(value.description)
        case .string(let string): try appendPair(string)
        case .array(let array): try append(array)
        case .object(let object): try append(nested: object)
        }
    }

    private mutating func append(nested object: JSONObject) throws(FeathersError) {
        if object.isEmpty {
            throw refusal("is an empty object: a query string cannot express it and would omit the condition.")
        }
        for (name, value) in object {
            try descend(.key(name)) { key in
                PercentEncoding.append(name, keeping: .unreserved, to: &key)
            } append: { (encoder) throws(FeathersError) in
                try encoder.append(value)
            }
        }
    }

    private mutating func append(_ array: [JSONValue]) throws(FeathersError) {
        if array.isEmpty {
            throw refusal("is an empty array: a query string cannot express it and would omit the condition.")
        }
        let hasBrackets = options.arrayFormat == .brackets && array.allSatisfy(\.isPlain)
        if let limit = options.arrayLimit, array.count > limit {
            throw refusal(
                """
                has \(array.count) elements, and servers read at most \(limit) as an array: a longer one becomes an \
                object, which matches other records. Send the query over a socket, or let the server read more \
                (Express: `\(Self.expressSetting)`; Koa: `\(Self.koaSetting)`) and set \
                `QueryStringOptions(arrayLimit: 1000)`.
                """)
        }
        for (index, value) in array.enumerated() {
            try descend(.index(index)) { key in
                if !hasBrackets { key.append(contentsOf: String(index).utf8) }
            } append: { (encoder) throws(FeathersError) in
                try encoder.append(value)
            }
        }
    }

    /// Descends one level: `key[…]`.
    private mutating func descend(
        _ step: Step, appendName: (inout [UInt8]) -> Void, append: (inout Self) throws(FeathersError) -> Void
    ) throws(FeathersError) {
        path.append(step)
        // The first step is the property itself.
        if let limit = options.depthLimit, path.count - 1 > limit {
            throw refusal(
                "is deeper than the \(limit) levels that servers read from a query string. \(Self.advice("depthLimit"))"
            )
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
        if let limit = options.pairLimit, pairs > limit {
            throw refusal(
                "comes after the \(limit) values that servers read from a query string. \(Self.advice("pairLimit"))")
        }
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        bytes.append(contentsOf: key)
        bytes.append(UInt8(ascii: "="))
        PercentEncoding.append(value, keeping: .unreserved, to: &bytes)
    }

    private static let expressSetting = "app.set('query parser', text => qs.parse(text, { arrayLimit: 1000 }))"
    private static let koaSetting = """
        Object.defineProperty(app.request, 'query', \
        { get() { return qs.parse(this.querystring, { arrayLimit: 1000 }) } })
        """

    private static func advice(_ option: String) -> String {
        "Send the query over a socket, or raise `\(option)` to the server's limit."
    }

    /// Returns the error for the current value. It names properties, never values.
    private func refusal(_ reason: String) -> FeathersError {
        var name = ""
        for step in path {
            switch step {
            case .key(let key): name += name.isEmpty ? key : ".\(key)"
            case .index(let index): name += "[\(index)]"
            }
        }
        return FeathersError(
            .badRequest, "Query not sent: '\(name)' \(reason)", execution: .neverSent, cause: QueryStringRefusal())
    }
}

extension JSONValue {
    fileprivate var isPlain: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }
}
