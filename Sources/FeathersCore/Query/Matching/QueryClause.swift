/// A query, compiled: what a record must fulfil.
indirect enum QueryClause: Sendable {
    case property(QueryPath, QueryTest)
    case record(QueryTest)
    case all([QueryClause])
    case any([QueryClause])

    func matches(_ record: JSONValue) -> Bool {
        switch self {
        case .all(let clauses):
            return clauses.allSatisfy { $0.matches(record) }
        case .any(let clauses):
            return clauses.contains { $0.matches(record) }
        case .property(let path, let test):
            var verdict = test.initialVerdict
            _ = test.visit(record, along: path.steps[...], at: QueryTest.Place(), verdict: &verdict)
            return verdict
        case .record(let test):
            var verdict = test.initialVerdict
            _ = test.test(record, at: QueryTest.Place(), verdict: &verdict)
            return verdict
        }
    }
}

extension QueryTest {
    /// Puts every value the path leads to from `value` to the test: an array's elements first, then the array itself.
    ///
    /// - Returns: Whether the verdict is final.
    fileprivate func visit(_ value: JSONValue?, along steps: ArraySlice<QueryPath.Step>, at place: Place, verdict: inout Bool) -> Bool {
        guard let value, !value.isNull else { return test(value, at: place, verdict: &verdict) }
        let step = steps.first
        if case .array(let elements) = value, step.map({ !$0.isNumeric && $0.name != "length" }) ?? true {
            for (index, element) in elements.enumerated() {
                let place = Place(siblings: elements.count, index: index)
                if visit(element, along: steps, at: place, verdict: &verdict) { return true }
            }
        }
        guard let step else { return test(value, at: place, verdict: &verdict) }
        let member = value.member(step)
        var next = Place()
        if case .array(let elements) = value {
            next = Place(siblings: elements.count, index: step.index, exists: member != nil)
        }
        return visit(member, along: steps.dropFirst(), at: next, verdict: &verdict)
    }
}
