extension JSONValue {
    /// Whether this is JSON null.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The boolean, or nil for any other kind of value.
    public var bool: Bool? {
        if case .bool(let bool) = self { bool } else { nil }
    }

    /// The integer, also where a server wrote it as `1.0`; nil for any other kind of value.
    public var integer: Int64? {
        switch self {
        case .integer(let integer): integer
        case .number(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The number, integers included; nil for any other kind of value.
    public var number: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .number(let number): number
        default: nil
        }
    }

    /// The string, or nil for any other kind of value.
    public var string: String? {
        if case .string(let string) = self { string } else { nil }
    }

    /// The array, or nil for any other kind of value.
    public var array: [JSONValue]? {
        if case .array(let array) = self { array } else { nil }
    }

    /// The object, or nil for any other kind of value.
    public var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// The value of an object's key.
    ///
    /// Reading from anything but an object gives nil. Setting nil removes the key; setting on a value that is no
    /// object replaces it by one.
    public subscript(key: String) -> JSONValue? {
        get { object?[key] }
        set {
            var object = self.object ?? JSONObject()
            self = .null
            object[key] = newValue
            self = .object(object)
        }
    }

    /// The element of an array, or nil where this is no array or the index is out of its bounds.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let array) = self, array.indices.contains(index) else { return nil }
        return array[index]
    }
}
