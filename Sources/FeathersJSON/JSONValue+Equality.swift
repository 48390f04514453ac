extension JSONValue: Hashable {
    /// Equal as JavaScript compares the parsed values: `1` equals `1.0`, the order of an object's keys does not count, strings
    /// are equal by their code units (a composed and a decomposed "é" differ).
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
            Int64(exactly: number) == integer
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
            // An integral number must hash as the integer it equals.
            if let integer = Int64(exactly: number) { hasher.combine(integer) } else { hasher.combine(number) }
        case .string(let string): string.hashExactly(into: &hasher)
        case .array(let array): hasher.combine(array)
        case .object(let object): hasher.combine(object)
        }
    }
}
