/// One condition on one property, ready to be put to the values found there.
enum QueryTest: Sendable {
    case equals(JSONValue)
    case isNot(JSONValue)
    case isIn([JSONValue])
    case isNotIn([JSONValue])
    case ordered(Ordering, JSONValue)
    case custom(@Sendable (JSONValue?) -> Bool)

    enum Ordering: Sendable {
        case less, lessOrEqual, greater, greaterOrEqual
    }

    /// The verdict while no value was put to the test.
    var initialVerdict: Bool {
        if case .isNot = self { true } else { false }
    }

    /// Puts one value to the test.
    ///
    /// - Parameter place: Where the value stands.
    /// - Returns: Whether the verdict is final.
    func test(_ value: JSONValue?, at place: Place, verdict: inout Bool) -> Bool {
        switch self {
        case .equals(let operand):
            return place.exists && accept(areEqualInQueries(operand, value), &verdict)
        case .ordered(let ordering, let operand):
            return place.exists && accept(ordering.holds(value, operand), &verdict)
        case .custom(let matches):
            return place.exists && accept(matches(value), &verdict)
        case .isNot(let operand):
            guard areEqualInQueries(operand, value) else { return false }
            verdict = false
            return true
        case .isIn(let operands):
            verdict = operands.contains { areEqualInQueries($0, value) }
            return verdict
        case .isNotIn(let operands):
            let isListed = operands.contains { areEqualInQueries($0, value) }
            guard let siblings = place.siblings else {
                verdict = !isListed
                return true
            }
            if isListed {
                verdict = false
                return true
            }
            // Inside an array the verdict falls with the last element.
            guard place.index == siblings - 1 else { return false }
            verdict = true
            return true
        }
    }

    private func accept(_ matches: Bool, _ verdict: inout Bool) -> Bool {
        if matches { verdict = true }
        return matches
    }

    /// Where a value stands in what holds it.
    struct Place {
        /// How many elements the array has that holds the value; nil where no array does.
        var siblings: Int?
        /// The value's position in that array.
        var index: Int?
        /// False for what is missing from an array: a place there is no null, unlike a property that is missing.
        var exists = true
    }
}

extension QueryTest.Ordering {
    /// Whether `value` stands in this order to `operand`: values of different types never do.
    fileprivate func holds(_ value: JSONValue?, _ operand: JSONValue) -> Bool {
        switch (value ?? .null, operand) {
        case (.null, .null):
            // Null is no less than null, but is null.
            self == .lessOrEqual || self == .greaterOrEqual
        case (.string(let value), .string(let operand)):
            holds(value.codeUnitOrder(to: operand))
        case (.bool(let value), .bool(let operand)):
            holds((value ? 1 : 0) - (operand ? 1 : 0))
        case (let value, let operand):
            numericOrder(value, operand).map(holds) ?? false
        }
    }

    private func holds(_ order: Int) -> Bool {
        switch self {
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}
