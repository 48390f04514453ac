import CSQLite

/// A connection to a SQLite database. Blocks during disk access: use it in an actor with a ``DiskExecutor``.
///
/// A transaction that has ended survives a power failure: the log is flushed with each.
package final class Database {
    let sqlite: csqlite_functions
    /// The path for error messages.
    package let path: String
    /// Called after each statement, so that tests can see the files as a killed process would leave them.
    package var onStatement: (() -> Void)?
    private let connection: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]
    private var isClosed = false

    /// Opens an existing file. Nothing is read yet.
    init(_ name: String, in directory: SafeDirectory, flags: Int32) throws {
        path = "\(directory.path)/\(name)"
        sqlite = try SQLiteLibrary.functions(for: path)
        var connection: OpaquePointer?
        let code = sqlite.open_v2(
            "\(try directory.resolvedPath)/\(name)", &connection,
            flags | CSQLITE_OPEN_NOMUTEX | CSQLITE_OPEN_NOFOLLOW, nil)
        guard code == CSQLITE_OK, let connection else {
            let message = connection.map { [sqlite] in String(cString: sqlite.errmsg($0)) } ?? "out of memory"
            _ = sqlite.close_v2(connection)
            throw DatabaseFailure(path, .failed(code: code, message))
        }
        self.connection = connection
        _ = sqlite.extended_result_codes(connection, 1)
        // Locks are held only briefly: by readers, and while a reader recovers the log of a killed process.
        _ = sqlite.busy_timeout(connection, 5_000)
        setCheckpointOnClose(false)
    }

    deinit { release() }

    /// Writes the log back to the database and closes it. Releasing the last reference leaves the log for the next
    /// opening, because that may happen where waiting for the disk is not allowed.
    package func close() {
        guard !isClosed else { return }
        setCheckpointOnClose(true)
        release()
    }

    private func release() {
        guard !isClosed else { return }
        isClosed = true
        for statement in statements.values { _ = sqlite.finalize(statement) }
        _ = sqlite.close_v2(connection)
    }

    private func setCheckpointOnClose(_ isOn: Bool) {
        _ = withUnsafePointer(to: sqlite) { csqlite_set_checkpoint_on_close($0, connection, isOn) }
    }

    // MARK: Statements

    /// Runs a statement.
    package func execute(_ sql: String, _ values: SQLiteValue...) throws { try execute(sql, values) }

    package func execute(_ sql: String, _ values: [SQLiteValue]) throws { try run(sql, values) { _ in } }

    /// Runs a query and returns the closure's result for its rows. The closure must not run the same query.
    package func rows<Result>(
        _ sql: String, _ values: SQLiteValue..., read: (SQLiteRow) throws -> Result
    ) throws -> [Result] {
        try rows(sql, values, read: read)
    }

    package func rows<Result>(
        _ sql: String, _ values: [SQLiteValue], read: (SQLiteRow) throws -> Result
    ) throws -> [Result] {
        var results: [Result] = []
        try run(sql, values) { results.append(try read($0)) }
        return results
    }

    /// Runs a query and calls a function with each of its rows, which must not run the same query.
    package func forEachRow(_ sql: String, _ values: [SQLiteValue], _ body: (SQLiteRow) throws -> Void) throws {
        try run(sql, values, body)
    }

    /// Returns the integer in the first row and column of a query; nil if there is none.
    package func integer(_ sql: String, _ values: SQLiteValue...) throws -> Int64? {
        var result: Int64?
        try run(sql, values) { result = $0.integer(0) }
        return result
    }

    /// Runs statements as a whole: either all of their changes are stored when it returns, or none.
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run("BEGIN IMMEDIATE", body)
    }

    /// Runs queries that see the database as it is when the first of them begins.
    package func snapshot<Result>(_ body: () throws -> Result) throws -> Result { try run("BEGIN", body) }

    private func run<Result>(_ begin: String, _ body: () throws -> Result) throws -> Result {
        try execute(begin)
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // After some errors, SQLite has already done this.
            if sqlite.get_autocommit(connection) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    /// A number that changes when another connection has changed the database. Readers poll it.
    package var dataVersion: Int64 { get throws { try integer("PRAGMA data_version") ?? 0 } }

    /// Writes the log back to the database and empties it, so that the files contain nothing that was removed.
    package func checkpoint() throws {
        guard try integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0 else {
            throw DatabaseFailure(path, .failed(code: CSQLITE_BUSY, "another process reads it"))
        }
    }

    private func run(_ sql: String, _ values: [SQLiteValue], _ body: (SQLiteRow) throws -> Void) throws {
        let statement = try prepared(sql)
        defer {
            _ = sqlite.reset(statement)
            _ = sqlite.clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { try bind(value, to: statement, at: Int32(index + 1)) }
        var code = sqlite.step(statement)
        while code == CSQLITE_ROW {
            try body(SQLiteRow(database: self, statement: statement))
            code = sqlite.step(statement)
        }
        guard code == CSQLITE_DONE else { throw failure(code) }
        onStatement?()
    }

    private func prepared(_ sql: String) throws -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        let code = sqlite.prepare_v2(connection, sql, -1, &statement, nil)
        guard code == CSQLITE_OK else { throw failure(code) }
        guard let statement else { throw DatabaseFailure(path, .failed(code: 21, "an empty statement")) }
        statements[sql] = statement
        return statement
    }

    private func bind(_ value: SQLiteValue, to statement: OpaquePointer, at index: Int32) throws {
        // Makes SQLite copy the bytes.
        let transient = unsafeBitCast(-1, to: csqlite_destructor.self)
        let code =
            switch value {
            // Parameters are null until they are bound.
            case .null: CSQLITE_OK
            case .integer(let value): sqlite.bind_int64(statement, index, value)
            case .double(let value): sqlite.bind_double(statement, index, value)
            case .text(var text):
                text.withUTF8 { sqlite.bind_text(statement, index, $0.baseAddress, Int32($0.count), transient) }
            case .utf8(let bytes):
                bytes.withUnsafeBytes {
                    sqlite.bind_text(statement, index, $0.baseAddress, Int32($0.count), transient)
                }
            case .blob(let bytes):
                bytes.withUnsafeBytes {
                    sqlite.bind_blob(statement, index, $0.baseAddress, Int32($0.count), transient)
                }
            }
        guard code == CSQLITE_OK else { throw failure(code) }
    }

    private func failure(_ code: Int32) -> DatabaseFailure {
        let message = String(cString: sqlite.errmsg(connection))
        let reason: DatabaseFailure.Reason =
            switch code & 0xFF {
            case CSQLITE_NOTADB: .notADatabase
            case CSQLITE_FULL: .full
            case CSQLITE_CORRUPT: .damaged(message)
            default: .failed(code: code, message)
            }
        return DatabaseFailure(path, reason)
    }
}
