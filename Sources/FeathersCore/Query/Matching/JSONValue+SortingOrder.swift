/// Compares two values of any type as FeathersJS sorts them: below zero, zero or above zero. Nil is a missing value.
func sortingOrder(_ left: JSONValue?, _ right: JSONValue?) -> Int {
    guard let left, let right else { return left == nil ? (right == nil ? 0 : -1) : 1 }
    switch (left, right) {
    case (.string(let left), .string(let right)):
        return left.codeUnitOrder(to: right)
    case (.bool(let left), .bool(let right)):
        return (left ? 1 : 0) - (right ? 1 : 0)
    case (.array(let left), .array(let right)):
        for (left, right) in zip(left, right) {
            let order = sortingOrder(left, right)
            if order != 0 { return order }
        }
        return left.count - right.count
    case (.object(let left), .object(let right)):
        return sortingOrder(left, right)
    default:
        return numericOrder(left, right) ?? left.rankInSorting - right.rankInSorting
    }
}

/// Objects compare by the values of their keys in alphabetical order, whatever the keys are called, then by their number.
private func sortingOrder(_ left: JSONObject, _ right: JSONObject) -> Int {
    for (left, right) in zip(left.valuesByKey, right.valuesByKey) {
        let order = sortingOrder(left, right)
        if order != 0 { return order }
    }
    return left.count - right.count
}

extension JSONObject {
    fileprivate var valuesByKey: [JSONValue] {
        sorted { $0.key.codeUnitOrder(to: $1.key) < 0 }.map(\.value)
    }
}

extension JSONValue {
    fileprivate var rankInSorting: Int {
        switch self {
        case .null: 0
        case .integer, .number: 1
        case .string: 2
        case .bool: 3
        case .array: 4
        case .object: 5
        }
    }
}
