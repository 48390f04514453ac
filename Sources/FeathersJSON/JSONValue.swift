/// Any JSON value.
///
/// Parsing and writing a number changes no digit: a number that neither `Int64` nor `Double` holds exactly keeps its
/// text. Digits are those of the number's value, as in JavaScript: `1.10` is written as `1.1`, and `1e2` as `100`.
/// Numbers are compared by value, whichever case they are in.
///
/// ## Topics
///
/// ### Values
/// - ``null``
/// - ``bool(_:)``
/// - ``integer(_:)``
/// - ``number(_:)``
/// - ``decimal(_:)``
/// - ``string(_:)``
/// - ``array(_:)``
/// - ``object(_:)``
///
/// ### Reading a value
/// - ``bool``
/// - ``integer``
/// - ``number``
/// - ``decimal``
/// - ``string``
/// - ``array``
/// - ``object``
/// - ``isNull``
///
/// ### Text and models
/// - ``serialized()``
/// - ``decode(_:with:)``
/// - ``init(encoding:with:)``
///
/// ### Limits
/// - ``defaultMaximumDepth``
/// - ``defaultMaximumValues``
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number whose digits are those that JavaScript writes for this `Double`.
    case number(Double)
    /// A number that is exact neither as an `Int64` nor as a `Double`, such as `12345678901234567890123` or
    /// `0.10000000000000000001`.
    case decimal(JSONDecimal)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// Whether this is JSON null.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The Boolean; nil for any other kind of value.
    public var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    /// The integer, including one written as `1.0`; nil for any other kind of value.
    public var integer: Int64? {
        switch self {
        case .integer(let integer): integer
        case .number(let number): number.writtenInteger()
        default: nil
        }
    }

    /// The number, which may be an integer, or the nearest `Double` if it has more digits; nil for any other kind of
    /// value, and beyond the range of a `Double`.
    public var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        case .decimal(let decimal): Double(decimal.text).flatMap { $0.isFinite ? $0 : nil }
        default: nil
        }
    }

    /// The string; nil for any other kind of value.
    public var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    /// The array; nil for any other kind of value.
    public var array: [JSONValue]? {
        if case .array(let array) = self { array } else { nil }
    }

    /// The object; nil for any other kind of value.
    public var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The value for an object's key.
    ///
    /// Reading from a value that is not an object returns nil. Setting nil removes the key; setting any other value on
    /// a value that is not an object replaces it with an object.
    public subscript(key: String) -> JSONValue? {
        get { object?[key] }
        set {
            var object = self.object ?? JSONObject()
            self = .null
            object[key] = newValue
            self = .object(object)
        }
    }

    /// The element at an index; nil if this is not an array or the index is out of bounds.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let array) = self, array.indices.contains(index) else { return nil }
        return array[index]
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral,
    ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONValue: Hashable {
    /// Compares values as JavaScript does after parsing: `1` equals `1.0`, the order of an object's keys does not
    /// matter, and strings are compared by code units, so a composed and a decomposed "é" differ.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
            number.writtenInteger() == integer
        case (.decimal(let left), .decimal(let right)): left == right
        case (.string(let left), .string(let right)): left.isExactly(right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let bool): hasher.combine(bool)
        case .integer(let integer): hasher.combine(integer)
        case .number(let number):
            // An integral number must hash like the integer it equals.
            if let integer: Int64 = number.writtenInteger() { hasher.combine(integer) } else { hasher.combine(number) }
        case .decimal(let decimal): hasher.combine(decimal)
        case .string(let string): string.hashExactly(into: &hasher)
        case .array(let array): hasher.combine(array)
        case .object(let object): hasher.combine(object)
        }
    }
}
