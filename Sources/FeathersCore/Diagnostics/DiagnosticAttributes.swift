/// The attributes of a diagnostic event: named values in order. Each name occurs once.
public struct DiagnosticAttributes: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    public typealias Element = (name: Name, value: Value)

    private var names: [Name] = []
    private var values: [Value] = []

    /// Creates attributes. If a name is repeated, the last value is kept at the first position.
    public init(dictionaryLiteral elements: (Name, Value)...) {
        for (name, value) in elements { append(value, as: name) }
    }

    /// Returns the value of a name; nil if there is none.
    public subscript(name: Name) -> Value? { names.firstIndex(of: name).map { values[$0] } }

    /// Appends a value, or replaces the existing value of the name.
    /// - Parameters:
    ///   - value: The value to append.
    ///   - name: The name of the value.
    public mutating func append(_ value: Value, as name: Name) {
        if let index = names.firstIndex(of: name) {
            values[index] = value
        } else {
            names.append(name)
            values.append(value)
        }
    }

    /// The name of an attribute. Define your own names for what you report.
    public struct Name: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        public init(stringLiteral value: String) { self.rawValue = value }

        public var description: String { rawValue }
    }

    /// A typed value of an attribute.
    public enum Value: Sendable, Hashable {
        case string(String)
        case integer(Int)
        case number(Double)
        case bool(Bool)
        case duration(Duration)
        case json(JSONValue)
    }
}

extension DiagnosticAttributes: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { names.count }
    public subscript(position: Int) -> Element { (names[position], values[position]) }
}

extension DiagnosticAttributes.Name {
    /// The path of a service.
    public static let path: Self = "path"
    /// The method of a service.
    public static let method: Self = "method"
    /// The id of a record.
    public static let id: Self = "id"
    /// The query of a call.
    public static let query: Self = "query"
    /// The duration of an operation or a delay.
    public static let duration: Self = "duration"
    /// The outcome of a call: `ok`, `failed` or `cancelled`.
    public static let outcome: Self = "outcome"
    /// The code of an error, as in ``FeathersError/Code``.
    public static let code: Self = "code"
    /// The name of an error's class, or of its type.
    public static let error: Self = "error"
    /// The number of attempts, if there was more than one.
    public static let attempt: Self = "attempt"
    /// The call that made this call.
    public static let parent: Self = "parent"
    /// The reason for the end of a connection, in Socket.IO's words.
    public static let reason: Self = "reason"
    /// The transport that sent a call: `rest`, `socketio` or `jsonapi`.
    public static let transport: Self = "transport"
    /// A URL without credentials.
    public static let url: Self = "url"
    /// An HTTP status.
    public static let status: Self = "status"
    /// The payload of a call, or the body of a request.
    package static let data: Self = "data"
    /// The result of a call, or the body of a response.
    package static let result: Self = "result"
    /// The header fields of a call or request.
    package static let headers: Self = "headers"
    /// The header fields of a response.
    package static let answerHeaders: Self = "answerHeaders"
}

extension DiagnosticAttributes.Value: CustomStringConvertible {
    /// The value as text, with durations in milliseconds.
    public var description: String {
        switch self {
        case .string(let string): string
        case .integer(let integer): "\(integer)"
        case .number(let number): "\(number)"
        case .bool(let bool): "\(bool)"
        case .duration(let duration): "\(duration.wholeMilliseconds) ms"
        case .json(let json): "\(json)"
        }
    }
}

extension DiagnosticAttributes.Value: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension Duration {
    package var wholeMilliseconds: Int { Int(clamping: Int64((self / .milliseconds(1)).rounded())) }
}
