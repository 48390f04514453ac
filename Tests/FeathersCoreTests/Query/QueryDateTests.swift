import FeathersCore
import Testing

/// A record's value beside a date in a query.
struct DateCase: Sendable, CustomTestStringConvertible {
    let value: JSONValue
    /// Negative if the value is before the date in the query, positive if it is after it; nil if that is unknown.
    let order: Int?

    init(_ value: JSONValue, _ order: Int?) { (self.value, self.order) = (value, order) }

    var testDescription: String { value.description }

    /// 10:00:00.500 UTC on 26 November 2026.
    static let operand = "2026-11-26T10:00:00.500Z"

    static let forms: [DateCase] = [
        // ISO 8601 in UTC, with and without a fraction.
        .init("2026-11-26T10:00:00.499Z", -1), .init("2026-11-26T10:00:00.500Z", 0),
        .init("2026-11-26T10:00:00.501Z", 1), .init("2026-11-26T10:00:00Z", -1), .init("2026-11-26T10:00:01Z", 1),
        .init("2026-11-26T10:00Z", -1), .init("2026-11-26T10:00:00.5Z", 0), .init("2026-11-26T10:00:00.500001Z", 1),
        // With an offset.
        .init("2026-11-26T12:00:00.500+02:00", 0), .init("2026-11-26T10:00:00.500+02:00", -1),
        .init("2026-11-26T05:00:01-0500", 1), .init("2026-11-26T12:00:00+02", -1),
        // SQL text.
        .init("2026-11-26 10:00:00", -1), .init("2026-11-26 10:00:01", 1), .init("2026-11-26 10:00:00.5", 0),
        .init("2026-11-26 10:00:00.500000", 0), .init("2026-11-26 10:00:00.500001", 1),
        .init("2026-11-26 12:00:00.500+02", 0),
        // Milliseconds and seconds since 1970.
        .init(1_795_687_200_499, -1), .init(1_795_687_200_500, 0), .init(1_795_687_200_501, 1),
        .init(1_795_687_200.5, 0), .init(1_795_687_200, -1), .init(1_795_687_201, 1), .init(0, -1),
        // The first and last plausible dates.
        .init(7_289_654_399_999, 1), .init(7_289_654_399, 1),
        // Other forms.
        .init(7_289_654_400_000, nil), .init(-1, nil), .init("2026-11-26", nil), .init("2026-11-26T10:00:00", nil),
        .init("26.11.2026", nil), .init("Thu, 26 Nov 2026 10:00:00 GMT", nil), .init("2026-13-26T10:00:00Z", nil),
        .init("1795687200500", nil), .init("", nil),
    ]
}

@Suite("Dates in conditions of live queries")
struct QueryDateTests {
    private func judge(_ condition: JSONValue, _ value: JSONValue) throws -> Bool? {
        try QueryMatcher(Query(["at": condition])).judges(["at": value])
    }

    private let operand = JSONValue.string(DateCase.operand)

    @Test("Every operator compares moments, whatever the form of the record's date", arguments: DateCase.forms)
    func operators(_ example: DateCase) throws {
        let (value, order) = (example.value, example.order)
        #expect(try judge(["$gt": operand], value) == order.map { $0 > 0 })
        #expect(try judge(["$gte": operand], value) == order.map { $0 >= 0 })
        #expect(try judge(["$lt": operand], value) == order.map { $0 < 0 })
        #expect(try judge(["$lte": operand], value) == order.map { $0 <= 0 })
        #expect(try judge(operand, value) == order.map { $0 == 0 })
        #expect(try judge(["$ne": operand], value) == order.map { $0 != 0 })
        #expect(try judge(["$in": ["2020-01-01T00:00:00.000Z", operand]], value) == order.map { $0 == 0 })
        #expect(try judge(["$nin": ["2020-01-01T00:00:00.000Z", operand]], value) == order.map { $0 != 0 })
    }

    @Test("An operand can have any full form of ISO 8601")
    func operandForms() throws {
        for operand in ["2026-11-26T10:00:00Z", "2026-11-26T12:00:00.000+02:00", "2026-11-26T10:00Z"] {
            #expect(try judge(.string(operand), "2026-11-26 10:00:00") == true)
            #expect(try judge(["$gt": .string(operand)], 1_795_687_201) == true)
        }
        // Text of the same form has all its digits compared.
        #expect(try judge(["$gt": "2026-11-26T10:00:00.123456788Z"], "2026-11-26T10:00:00.123456789Z") == true)
    }

    @Test("Values that are never dates are compared as always")
    func noDates() throws {
        for value: JSONValue in [nil, true, ["a": 1], []] {
            #expect(try judge(["$gt": operand], value) == false)
            #expect(try judge(operand, value) == false)
            #expect(try judge(["$ne": operand], value) == true)
        }
        #expect(try QueryMatcher(Query(["at": ["$lt": operand]])).judges([:]) == false)
    }

    @Test("Operands that are no full date-time are compared as always", arguments: ["2026-11-26", "10", "swift", ""])
    func otherOperands(_ operand: String) throws {
        for value: JSONValue in ["2026-11-26T10:00:00Z", "z", "", 10, -1, nil] {
            for name in ["$gt", "$lte", "$ne"] {
                let matcher = try QueryMatcher(Query(["at": .object(JSONObject([(name, .string(operand))]))]))
                #expect(matcher.judges(["at": value]) == matcher.matches(["at": value]))
            }
        }
    }

    @Test("An element of an array decides if it is known, and does not if it is unknown")
    func arrays() throws {
        #expect(try judge(["$gt": operand], ["soon", 1_795_687_201]) == true)
        #expect(try judge(["$gt": operand], ["soon", 1_795_687_200]) == nil)
        #expect(try judge(["$gt": operand], ["2026-11-26 09:00:00", 1_795_687_200]) == false)
        #expect(try judge(["$nin": [operand]], ["soon", 1_795_687_200_500]) == false)
        #expect(try judge(["$nin": [operand]], ["soon", 1]) == nil)
        #expect(try judge(["$ne": operand], [1, "2026-11-26 10:00:00.5"]) == false)
    }

    @Test("An unknown condition makes the result unknown unless the others decide it")
    func groups() throws {
        let (unknown, known): (JSONValue, JSONValue) = (["at": ["$gt": operand]], ["n": 1])
        let record: JSONValue = ["at": "soon", "n": 1]
        let other: JSONValue = ["at": "soon", "n": 2]
        let cases: [(JSONObject, Bool?, Bool?)] = [
            (["$or": [unknown, known]], true, nil), (["$or": [known, unknown]], true, nil),
            (["$and": [unknown, known]], nil, false), (["$and": [known, unknown]], nil, false),
            (["at": ["$gt": operand], "n": 1], nil, false),
            (["$or": [["at": ["$ne": operand], "n": 1], ["n": 3]]], nil, false),
            (["at": ["$gt": operand, "$in": []]], false, false),
        ]
        for (query, verdict, otherVerdict) in cases {
            let matcher = try QueryMatcher(Query(query))
            #expect(matcher.judges(record) == verdict && matcher.judges(other) == otherVerdict, "\(query)")
        }
        #expect(try QueryMatcher(Query()).judges(record) == true)
    }

    @Test("Services in this process compare dates as text, as FeathersJS' memory service does")
    func services() throws {
        for example in DateCase.forms {
            let isText = example.value.string != nil
            let matcher = try QueryMatcher(Query(["at": ["$gte": operand]]))
            let isAtLeast =
                example.value.string.map {
                    $0.utf8.elementsEqual(DateCase.operand.utf8)
                        || DateCase.operand.utf8.lexicographicallyPrecedes($0.utf8)
                } ?? false
            #expect(matcher.matches(["at": example.value]) == (isText && isAtLeast))
        }
    }
}
