import CSQLite
package import Foundation

/// A value in a database.
package enum SQLiteValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    /// Text as UTF-8 that is known to be valid, such as serialized JSON.
    case utf8([UInt8])
    case blob([UInt8])

    package init(_ integer: Int) { self = .integer(Int64(integer)) }
    package init(_ flag: Bool) { self = .integer(flag ? 1 : 0) }
    package init(_ text: String?) { self = text.map { .text($0) } ?? .null }
}

/// A row of a result. It is valid only while the closure that receives it runs. A column is nil if it is null.
package struct SQLiteRow {
    let database: Database
    let statement: OpaquePointer

    package func integer(_ column: Int) -> Int64? {
        isNull(column) ? nil : database.sqlite.column_int64(statement, Int32(column))
    }

    package func double(_ column: Int) -> Double? {
        isNull(column) ? nil : database.sqlite.column_double(statement, Int32(column))
    }

    package func text(_ column: Int) -> String? { bytes(column).map { String(decoding: $0, as: UTF8.self) } }

    /// Returns a copy of the bytes of a text or a blob.
    package func bytes(_ column: Int) -> [UInt8]? {
        guard !isNull(column) else { return nil }
        // In this order: asking for the bytes may convert the value, which changes their number.
        guard let start = database.sqlite.column_blob(statement, Int32(column)) else { return [] }
        let count = database.sqlite.column_bytes(statement, Int32(column))
        return Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
    }

    // MARK: Checked values

    /// The largest number that this package stores, unless a column says otherwise: small enough that sums of millions
    /// do not overflow.
    package static let largestNumber = 1 << 40
    /// The largest distance of a date from the beginning of 2001, in seconds: some 3,000 years.
    private static let largestInterval = 1e11

    /// Returns the number in a column; nil if it is null.
    /// - Throws: ``DatabaseFailure`` if this package cannot have stored the value, which is not an integer, negative,
    /// or
    ///   larger than the limit.
    package func number(_ column: Int, atMost limit: Int = largestNumber) throws -> Int? {
        guard !isNull(column) else { return nil }
        guard type(column) == CSQLITE_INTEGER, let value = integer(column), 0...Int64(limit) ~= value else {
            throw damage("a number")
        }
        return Int(value)
    }

    /// Returns the number in a column that is never null.
    package func requiredNumber(_ column: Int, atMost limit: Int = largestNumber) throws -> Int {
        guard let number = try number(column, atMost: limit) else { throw damage("a number") }
        return number
    }

    package func flag(_ column: Int) throws -> Bool { try requiredNumber(column, atMost: 1) == 1 }

    /// Returns the date in a column, stored as seconds since the beginning of 2001; nil if it is null.
    package func date(_ column: Int) throws -> Date? {
        guard !isNull(column) else { return nil }
        guard [CSQLITE_INTEGER, CSQLITE_FLOAT].contains(type(column)), let seconds = double(column),
            abs(seconds) <= Self.largestInterval
        else { throw damage("a date") }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// Returns the text in a column; nil if it is null.
    package func string(_ column: Int) throws -> String? {
        guard !isNull(column) else { return nil }
        guard type(column) == CSQLITE_TEXT, let text = String(validating: bytes(column) ?? [], as: UTF8.self) else {
            throw damage("a text")
        }
        return text
    }

    private func damage(_ what: String) -> DatabaseFailure {
        DatabaseFailure(database.path, .damaged("\(what) cannot be read"))
    }

    private func type(_ column: Int) -> Int32 { database.sqlite.column_type(statement, Int32(column)) }

    private func isNull(_ column: Int) -> Bool {
        type(column) == CSQLITE_NULL
    }
}
