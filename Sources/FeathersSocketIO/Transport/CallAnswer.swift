import FeathersCore

/// Reads an acknowledgement as FeathersJS' server writes it: `[error]`, or `[null, result]`.
enum CallAnswer {
    static func result(of arguments: [JSONValue]) -> Result<JSONValue, any Error> {
        if let error = arguments.first, error.isTruthy { return .failure(FeathersError(wire: error)) }
        return .success(arguments.count > 1 ? arguments[1] : .null)
    }
}

extension JSONValue {
    /// Whether JavaScript takes the value for true.
    fileprivate var isTruthy: Bool {
        switch self {
        case .null: false
        case .bool(let bool): bool
        case .integer(let integer): integer != 0
        case .number(let number): number != 0 && !number.isNaN
        case .string(let string): !string.isEmpty
        case .array, .object: true
        }
    }
}
