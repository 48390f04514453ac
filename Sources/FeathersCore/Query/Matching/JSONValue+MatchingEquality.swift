/// Whether two values are equal to a Feathers query: as JavaScript's `===`, but arrays and objects by what they hold, and
/// a missing value (nil) like null.
func areEqualInQueries(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
    switch (left ?? .null, right ?? .null) {
    case (.null, .null):
        return true
    case (.bool(let left), .bool(let right)):
        return left == right
    case (.string(let left), .string(let right)):
        return left.isExactly(right)
    case (.array(let left), .array(let right)):
        return left.count == right.count && zip(left, right).allSatisfy { areEqualInQueries($0, $1) }
    case (.object(let left), .object(let right)):
        // A key that is null on the left and missing on the right counts as equal, as in FeathersJS.
        return left.count == right.count && left.allSatisfy { areEqualInQueries($0.value, right[$0.key]) }
    case (let left, let right):
        return numericOrder(left, right) == 0
    }
}

/// Compares two numbers: below zero, zero or above zero; nil where one of both is no number.
func numericOrder(_ left: JSONValue, _ right: JSONValue) -> Int? {
    // Integers are compared as such, so that ids beyond 2^53 stay apart.
    if case .integer(let left) = left, case .integer(let right) = right { return left == right ? 0 : left < right ? -1 : 1 }
    guard let left = left.number, let right = right.number else { return nil }
    if left == right { return 0 }
    if left < right { return -1 }
    return left > right ? 1 : nil
}
