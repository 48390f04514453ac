import CSQLite

/// A value in a database.
package enum SQLiteValue: Sendable, Equatable {
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

    private func isNull(_ column: Int) -> Bool {
        database.sqlite.column_type(statement, Int32(column)) == CSQLITE_NULL
    }
}
