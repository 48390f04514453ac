import FeathersCore
import FeathersSupport

/// A value by which records are found: equal values have equal terms.
///
/// SQLite narrows by terms, and the matcher decides. So a condition may find too many records, and never too few.
struct ReplicaTerm: Sendable, Hashable {
    enum Kind: Int, Sendable, CaseIterable {
        case number, text, moment
        /// Null, a missing value, a boolean, an array or an object.
        case other
    }

    /// The terms of a property have numbers of their own, one for each kind. Below are those of no property.
    static let first = 4
    /// Text is compared by its beginning.
    private static let textLength = 256

    let kind: Kind
    let value: SQLiteValue

    private init(_ kind: Kind, _ value: SQLiteValue) { (self.kind, self.value) = (kind, value) }

    /// The term of a value that is not in an array.
    private init(_ value: JSONValue?) {
        switch value ?? .null {
        case .null: self.init(.other, .text("null"))
        case .bool(let flag): self.init(.other, .text(flag ? "true" : "false"))
        case .array: self.init(.other, .text("array"))
        case .object: self.init(.other, .text("object"))
        case .string(let text):
            if text.startsWithDate, case .moment(let moment) = QueryDate(.string(text)) {
                self.init(.moment, .double(moment))
            } else {
                self.init(.text, .text(String(text.unicodeScalars.prefix(Self.textLength).map(Character.init))))
            }
        case let value: self.init(.number, .double(value.number ?? 0))
        }
    }

    /// Returns the terms of a record's value: several for an array, because each of its elements may match.
    static func terms(of value: JSONValue?) -> Set<ReplicaTerm> {
        guard case .array(let elements)? = value else { return [ReplicaTerm(value)] }
        return elements.reduce(into: [ReplicaTerm(value)]) { $0.formUnion(terms(of: $1)) }
    }

    /// A range of terms of one kind.
    struct Range: Sendable {
        let kind: Kind
        var lowest: SQLiteValue?
        var highest: SQLiteValue?
    }

    /// Returns the ranges in which the terms of all records are that a condition may match; nil if that is any record.
    static func ranges(of condition: JSONValue) -> [Range]? {
        switch condition {
        case .object(let object):
            guard object.contains(where: { $0.key.hasPrefix("$") }) else { return nil }
            if let values = object["$in"] {
                let ranges = (values.array ?? [values]).map { Self.ranges(of: $0) }
                return ranges.contains { $0 == nil } || ranges.count > 100 ? nil : ranges.flatMap { $0 ?? [] }
            }
            let low = (object["$gt"] ?? object["$gte"]).flatMap { Self.bound($0) }
            let high = (object["$lt"] ?? object["$lte"]).flatMap { Self.bound($0) }
            guard let term = low ?? high, low == nil || high == nil || low?.kind == high?.kind else { return nil }
            return Self.withUnknown([Range(kind: term.kind, lowest: low?.value, highest: high?.value)], term.kind)
        case .array, .null: return nil
        default:
            let term = ReplicaTerm(condition)
            return Self.withUnknown([Range(kind: term.kind, lowest: term.value, highest: term.value)], term.kind)
        }
    }

    /// The term of an operand whose order is that of its term.
    private static func bound(_ operand: JSONValue) -> ReplicaTerm? {
        let term = ReplicaTerm(operand)
        return term.kind == .moment || term.kind == .number ? term : nil
    }

    /// Beside a date, numbers and text may be dates in another form.
    private static func withUnknown(_ ranges: [Range], _ kind: Kind) -> [Range] {
        kind == .moment ? ranges + [Range(kind: .number), Range(kind: .text)] : ranges
    }

    /// The kinds whose terms have the order of `$sort`, if no other ones are there.
    static let sortable: [Kind] = [.moment, .number]
}

extension ReplicaTerm {
    /// The terms of a record by which it is found.
    /// - Parameter indexes: The properties that have terms.
    static func all(of record: JSONValue, _ indexes: [String]) -> [(property: Int, value: SQLiteValue)] {
        var all: [(property: Int, value: SQLiteValue)] = []
        for (index, name) in indexes.enumerated() {
            for term in terms(of: record[name]) { all.append((number(of: index, term.kind), term.value)) }
        }
        return all
    }

    /// The number of a property's terms of a kind.
    static func number(of index: Int, _ kind: Kind) -> Int { first * (index + 1) + kind.rawValue }
}
