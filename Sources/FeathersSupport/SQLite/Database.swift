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
    /// How long statements may take. SQLite holds the pointer.
    private let time: UnsafeMutablePointer<csqlite_time>
    private var isLimited = false
    private var statements: [String: OpaquePointer] = [:]
    private var isClosed = false

    /// Opens an existing file. Nothing is read yet.
    convenience init(_ name: String, in directory: SafeDirectory, flags: Int32) throws {
        try self.init(
            "\(try directory.resolvedPath)/\(name)", path: "\(directory.path)/\(name)",
            flags: flags | CSQLITE_OPEN_NOFOLLOW)
    }

    /// Opens an empty database in memory.
    convenience init(inMemoryFor path: String) throws {
        try self.init(":memory:", path: path, flags: CSQLITE_OPEN_READWRITE | CSQLITE_OPEN_MEMORY)
    }

    private init(_ name: String, path: String, flags: Int32) throws {
        self.path = path
        sqlite = try SQLiteLibrary.functions(for: path)
        var connection: OpaquePointer?
        let code = sqlite.open_v2(name, &connection, flags | CSQLITE_OPEN_NOMUTEX, nil)
        guard code == CSQLITE_OK, let connection else {
            let message = connection.map { [sqlite] in String(cString: sqlite.errmsg($0)) } ?? "out of memory"
            _ = sqlite.close_v2(connection)
            throw DatabaseFailure(path, .failed(code: code, message))
        }
        self.connection = connection
        time = .allocate(capacity: 1)
        time.initialize(to: csqlite_time(start: -1, limit: Self.longestStatement.nanoseconds))
        withUnsafePointer(to: sqlite) { csqlite_set_time($0, connection, time) }
        _ = sqlite.extended_result_codes(connection, 1)
        wait(atMost: Self.longestWait)
        set(CSQLITE_OPTION_NO_CHECKPOINT_ON_CLOSE, true)
        // The tables of a prepared file must not run anything.
        set(CSQLITE_OPTION_DEFENSIVE, true)
        for option in [CSQLITE_OPTION_TRUSTED_SCHEMA, CSQLITE_OPTION_TRIGGERS, CSQLITE_OPTION_VIEWS] {
            set(option, false)
        }
    }

    deinit {
        release()
        time.deallocate()
    }

    /// Writes the log back to the database, empties it, and closes the database. Waits for other processes that read,
    /// for some seconds. Releasing the last reference leaves the log for the next opening, because that may happen
    /// where waiting for the disk is not allowed.
    package func close() {
        guard !isClosed else { return }
        // SQLite itself would not empty it while another process has the database open.
        _ = try? checkpoint()
        set(CSQLITE_OPTION_NO_CHECKPOINT_ON_CLOSE, false)
        release()
    }

    private func release() {
        guard !isClosed else { return }
        isClosed = true
        for statement in statements.values { _ = sqlite.finalize(statement) }
        _ = sqlite.close_v2(connection)
    }

    private func set(_ option: Int32, _ isOn: Bool) {
        // Options that an older version does not know have no effect.
        _ = withUnsafePointer(to: sqlite) { csqlite_set_option($0, connection, option, isOn) }
    }

    // MARK: Time

    /// The processor time after which a statement ends. No statement on an intact file takes so long, and a prepared
    /// file must not occupy the disk's thread forever. Time that the process is suspended does not count.
    private static let longestStatement = Duration.seconds(60)
    /// How long a statement waits for other connections. They hold locks only briefly: to read, to write, and to
    /// recover the log of a killed process.
    private static let longestWait = Duration.seconds(5)

    /// Runs statements that together may take this much of this thread's processor time. Then the one that is running
    /// fails: the file is damaged.
    package func limited<Result>(to limit: Duration, _ body: () throws -> Result) throws -> Result {
        time.pointee = csqlite_time(start: -1, limit: limit.nanoseconds)
        isLimited = true
        defer {
            isLimited = false
            time.pointee.limit = Self.longestStatement.nanoseconds
        }
        return try body()
    }

    private func wait(atMost limit: Duration) {
        _ = sqlite.busy_timeout(connection, Int32(limit / .milliseconds(1)))
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

    /// Returns the number in the first row and column of a query; nil if there is none.
    /// - Throws: ``DatabaseFailure`` also if this package cannot have stored it; see ``SQLiteRow/number(_:atMost:)``.
    package func number(_ sql: String, _ values: SQLiteValue..., atMost limit: Int = SQLiteRow.largestNumber) throws
        -> Int?
    {
        var result: Int?
        try run(sql, values) { result = try $0.number(0, atMost: limit) }
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

    /// How long the owner of a database lets changes be in its log alone. Then it calls ``checkpoint(waitingAtMost:)``,
    /// and again after this time, until the log is empty: what was removed is then in no file, and a damaged byte of
    /// the log costs few transactions.
    package static let checkpointDelay = Duration.seconds(5)
    /// How long such a checkpoint waits for readers, so that it does not keep others waiting.
    package static let checkpointWait = Duration.milliseconds(100)

    /// Writes the log back to the database and empties it, so that the files contain nothing that was removed.
    /// - Parameter limit: How long to wait for other connections that read or write; nil for some seconds.
    /// - Returns: Whether the log is empty now. If not, another connection reads what is in it.
    @discardableResult
    package func checkpoint(waitingAtMost limit: Duration? = nil) throws -> Bool {
        if let limit { wait(atMost: limit) }
        defer { if limit != nil { wait(atMost: Self.longestWait) } }
        return try integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0
    }

    private func run(_ sql: String, _ values: [SQLiteValue], _ body: (SQLiteRow) throws -> Void) throws {
        if !isLimited { time.pointee.start = -1 }
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
            case CSQLITE_INTERRUPT: .damaged("reading it takes too long")
            default: .failed(code: code, message)
            }
        return DatabaseFailure(path, reason)
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 { Int64(self / .nanoseconds(1)) }
}
