/// A record's value beside a date in a query: the forms in which servers write dates.
///
/// * ISO 8601 with a time and a zone: `2026-11-26T10:00:00Z`, `2026-11-26T12:00:00.000+02:00`
/// * SQL text, in UTC unless it has an offset: `2026-11-26 10:00:00`, `2026-11-26 10:00:00.123456`
/// * Seconds or milliseconds since 1970, if that is a date between 1970 and 2200. A number that could be either is
///   seconds, because as milliseconds it would be in the first weeks of 1970.
package enum QueryDate: Equatable {
    /// A date, in milliseconds since 1970.
    case moment(Double)
    /// Text, or a number, that may be a date in another form.
    case unknown
    /// A value that is never a date.
    case noDate

    /// The end of the plausible dates, in milliseconds since 1970.
    private static let end = Double(ISO8601Timestamp.daysSince1970(year: 2201, month: 1, day: 1)) * 86_400_000

    package init(_ value: JSONValue) {
        switch value {
        case .string(let text): self = Self.milliseconds(in: text).map { .moment($0) } ?? .unknown
        case .integer, .number, .decimal:
            guard let number = value.number, number >= 0, number < Self.end else {
                self = .unknown
                return
            }
            self = .moment(number < Self.end / 1000 ? number * 1000 : number)
        case .null, .bool, .array, .object: self = .noDate
        }
    }

    /// Returns the date of text in full ISO 8601; nil for any other text.
    package static func isoMoment(of text: String) -> Double? {
        separator(of: text) == UInt8(ascii: "T") ? ISO8601Timestamp(text)?.milliseconds : nil
    }

    /// Compares two dates in different forms. Returns a negative number, zero or a positive number; nil for other values,
    /// and for two dates in UTC whose texts have the same order.
    static func order(of left: JSONValue, and right: JSONValue) -> Int? {
        switch (left, right) {
        case (.string(let left), .string(let right)):
            if left.utf8.count == right.utf8.count, left.utf8.last == utcMark, right.utf8.last == utcMark { return nil }
            guard left.startsWithDate, right.startsWithDate else { return nil }
        case (.string(let text), _), (_, .string(let text)): guard text.startsWithDate else { return nil }
        default: return nil
        }
        guard case .moment(let left) = QueryDate(left), case .moment(let right) = QueryDate(right) else { return nil }
        return left < right ? -1 : left > right ? 1 : 0
    }

    private static func milliseconds(in text: String) -> Double? {
        guard let separator = separator(of: text) else { return nil }
        if let timestamp = ISO8601Timestamp(text) { return timestamp.milliseconds }
        return separator == UInt8(ascii: " ") ? ISO8601Timestamp(text + "Z")?.milliseconds : nil
    }

    /// Returns the byte between date and time, where it is in text with a year of four digits.
    private static func separator(of text: String) -> UInt8? { text.utf8.dropFirst(10).first }
}

/// Compares values with the operands of a query.
struct QueryComparison {
    /// Whether an operand in full ISO 8601 is compared as a moment, and not as text.
    var comparesMoments = false
    /// The result that is assumed for unknown comparisons.
    var unknownHolds = false
    /// Whether there was such a comparison.
    private(set) var sawUnknown = false

    init(comparesMoments: Bool = false, unknownHolds: Bool = false) {
        (self.comparesMoments, self.unknownHolds) = (comparesMoments, unknownHolds)
    }

    mutating func areEqual(_ operand: JSONValue, _ value: JSONValue?) -> Bool {
        switch comparesMoments ? momentOrder(of: value, to: operand) : .noDates {
        case .known(let order): return order == 0
        case .unknown: return unknown()
        case .noDates: return areEqualInQueries(operand, value)
        }
    }

    mutating func holds(_ ordering: QueryTest.Ordering, _ value: JSONValue?, _ operand: JSONValue) -> Bool {
        switch comparesMoments ? momentOrder(of: value, to: operand) : .noDates {
        case .known(let order): return ordering.holds(order)
        case .unknown: return unknown()
        case .noDates: return ordering.holds(value, operand)
        }
    }

    private mutating func unknown() -> Bool {
        sawUnknown = true
        return unknownHolds
    }

    private enum MomentOrder {
        case known(Int)
        case unknown
        case noDates
    }

    private func momentOrder(of value: JSONValue?, to operand: JSONValue) -> MomentOrder {
        guard let value, case .string(let text) = operand, let moment = QueryDate.isoMoment(of: text) else {
            return .noDates
        }
        switch QueryDate(value) {
        case .noDate: return .noDates
        case .unknown: return .unknown
        case .moment(let other):
            // Two texts of the same form are compared as text, which also compares digits beyond a `Double`.
            if case .string(let otherText) = value, text.utf8.count == otherText.utf8.count, text.utf8.last == utcMark,
                otherText.utf8.last == utcMark, QueryDate.isoMoment(of: otherText) != nil
            {
                return .known(otherText.codeUnitOrder(to: text))
            }
            return .known(other < moment ? -1 : other > moment ? 1 : 0)
        }
    }
}

private let utcMark = UInt8(ascii: "Z")
