indirect enum QueryClause: Sendable {
    case property(QueryPath, QueryTest)
    case record(QueryTest)
    case all([QueryClause])
    case any([QueryClause])

    func matches(_ record: JSONValue) -> Bool {
        switch self {
        case .all(let clauses): return clauses.allSatisfy { $0.matches(record) }
        case .any(let clauses): return clauses.contains { $0.matches(record) }
        case .property, .record:
            var comparison = QueryComparison()
            return verdict(on: record, &comparison)
        }
    }

    /// Returns whether a record matches if dates are compared as moments; nil if that is unknown.
    func judges(_ record: JSONValue) -> Bool? {
        switch self {
        case .all(let clauses): return Self.all(clauses, judge: record)
        case .any(let clauses):
            var verdict: Bool? = false
            for clause in clauses {
                guard let isMatch = clause.judges(record) else {
                    verdict = nil
                    continue
                }
                if isMatch { return true }
            }
            return verdict
        case .property, .record:
            var comparison = QueryComparison(comparesMoments: true)
            let verdict = verdict(on: record, &comparison)
            guard comparison.sawUnknown else { return verdict }
            // Every test gets either truer or falser the more comparisons hold. So these two verdicts are the limits.
            var opposite = QueryComparison(comparesMoments: true, unknownHolds: true)
            return self.verdict(on: record, &opposite) == verdict ? verdict : nil
        }
    }

    /// Returns whether a record matches all clauses; nil if that is unknown.
    static func all(_ clauses: [QueryClause], judge record: JSONValue) -> Bool? {
        var verdict: Bool? = true
        for clause in clauses {
            guard let isMatch = clause.judges(record) else {
                verdict = nil
                continue
            }
            if !isMatch { return false }
        }
        return verdict
    }

    private func verdict(on record: JSONValue, _ comparison: inout QueryComparison) -> Bool {
        switch self {
        case .all, .any: return matches(record)
        case .property(let path, let test):
            var verdict = test.initialVerdict
            let place = QueryTest.Place()
            _ = test.visit(record, along: path.steps[...], at: place, verdict: &verdict, &comparison)
            return verdict
        case .record(let test):
            var verdict = test.initialVerdict
            _ = test.test(record, at: QueryTest.Place(), verdict: &verdict, &comparison)
            return verdict
        }
    }
}

extension QueryTest {
    /// Tests every value at the path: the elements of an array first, then the array itself.
    ///
    /// - Returns: whether the verdict is final.
    fileprivate func visit(
        _ value: JSONValue?, along steps: ArraySlice<QueryPath.Step>, at place: Place, verdict: inout Bool,
        _ comparison: inout QueryComparison
    ) -> Bool {
        guard let value, !value.isNull else { return test(value, at: place, verdict: &verdict, &comparison) }
        let step = steps.first
        if case .array(let elements) = value, step.map({ !$0.isNumeric && $0.name != "length" }) ?? true {
            for (index, element) in elements.enumerated() {
                let place = Place(siblings: elements.count, index: index)
                if visit(element, along: steps, at: place, verdict: &verdict, &comparison) { return true }
            }
        }
        guard let step else { return test(value, at: place, verdict: &verdict, &comparison) }
        let member = value.member(step)
        var next = Place()
        if case .array(let elements) = value {
            next = Place(siblings: elements.count, index: step.index, exists: member != nil)
        }
        return visit(member, along: steps.dropFirst(), at: next, verdict: &verdict, &comparison)
    }
}

/// A condition on a property. It is evaluated for each value at the property's path.
enum QueryTest: Sendable {
    case equals(JSONValue)
    case notEquals(JSONValue)
    case isIn([JSONValue])
    case isNotIn([JSONValue])
    case ordered(Ordering, JSONValue)
    case custom(@Sendable (JSONValue?) -> Bool)

    enum Ordering: Sendable {
        case less, lessOrEqual, greater, greaterOrEqual
    }

    var initialVerdict: Bool {
        if case .notEquals = self { true } else { false }
    }

    /// Tests one value.
    ///
    /// - Parameter place: the value's position in its container.
    /// - Returns: whether the verdict is final.
    func test(
        _ value: JSONValue?, at place: Place, verdict: inout Bool, _ comparison: inout QueryComparison
    ) -> Bool {
        switch self {
        case .equals(let operand): return place.exists && accept(comparison.areEqual(operand, value), &verdict)
        case .ordered(let ordering, let operand):
            return place.exists && accept(comparison.holds(ordering, value, operand), &verdict)
        case .custom(let matches): return place.exists && accept(matches(value), &verdict)
        case .notEquals(let operand):
            guard comparison.areEqual(operand, value) else { return false }
            verdict = false
            return true
        case .isIn(let operands):
            verdict = operands.contains { comparison.areEqual($0, value) }
            return verdict
        case .isNotIn(let operands):
            let isListed = operands.contains { comparison.areEqual($0, value) }
            guard let siblings = place.siblings else {
                verdict = !isListed
                return true
            }
            if isListed {
                verdict = false
                return true
            }
            // Inside an array, the last element determines the result.
            guard place.index == siblings - 1 else { return false }
            verdict = true
            return true
        }
    }

    private func accept(_ matches: Bool, _ verdict: inout Bool) -> Bool {
        if matches { verdict = true }
        return matches
    }

    /// The position of a value in its container.
    struct Place {
        /// The number of elements in the array that contains the value; nil if it is not in an array.
        var siblings: Int?
        var index: Int?
        /// False for a missing array element, which isn't null, unlike a missing property.
        var exists = true
    }
}

extension QueryTest.Ordering {
    /// Returns whether `value` and `operand` are in this order. Values of different types never are.
    func holds(_ value: JSONValue?, _ operand: JSONValue) -> Bool {
        switch (value ?? .null, operand) {
        case (.null, .null):
            // Null equals null.
            self == .lessOrEqual || self == .greaterOrEqual
        case (.string(let value), .string(let operand)): holds(value.codeUnitOrder(to: operand))
        case (.bool(let value), .bool(let operand)): holds((value ? 1 : 0) - (operand ? 1 : 0))
        case (let value, let operand): value.numericOrder(to: operand).map(holds) ?? false
        }
    }

    func holds(_ order: Int) -> Bool {
        switch self {
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}
