import CSQLite

/// The tables of a database, and the numbers by which it is recognized.
package struct DatabaseSchema: Sendable {
    /// A number in the file that belongs to this kind of database alone.
    let application: Int32
    let version: Int
    let statements: [String]

    package init(application: Int32, version: Int, statements: [String]) {
        (self.application, self.version, self.statements) = (application, version, statements)
    }
}

extension Database {
    /// Opens a database for writing, or creates one with mode 0600.
    ///
    /// A file that is refused is not changed. Whether a file is intact is not checked as a whole, which would take as
    /// long as reading all of it: after a killed process, SQLite recovers the log by its checksums, and damage shows
    /// when the damaged page is read.
    /// - Throws: ``DatabaseFailure`` or ``FileFailure``, which name the file.
    package static func open(_ name: String, in directory: SafeDirectory, _ schema: DatabaseSchema) throws -> Database {
        // Loaded first, so that no file is created if the library is missing.
        _ = try SQLiteLibrary.functions(for: "\(directory.path)/\(name)")
        // Checked before opening, because opening a FIFO would wait, and again afterward, when SQLite has created
        // missing files.
        let size = try checkedSize(of: name, in: directory)
        if size == nil {
            // SQLite would create a file that others can read. SQLite gives its own files the mode of this one.
            _ = try directory.create(name)
            try directory.synchronize()
        }
        let database = try Database(name, in: directory, flags: CSQLITE_OPEN_READWRITE)
        let isNew = try !database.hasSchema(schema)
        // Takes effect only before the first table is created. Without it, free pages would stay in the file.
        if isNew { try database.execute("PRAGMA auto_vacuum = INCREMENTAL") }
        try database.configure()
        if isNew {
            try database.transaction {
                for statement in schema.statements { try database.execute(statement) }
                try database.execute("PRAGMA application_id = \(schema.application)")
                try database.execute("PRAGMA user_version = \(schema.version)")
            }
        }
        _ = try checkedSize(of: name, in: directory)
        return database
    }

    /// Opens a database that another process may be writing.
    /// - Returns: Nil if the database does not exist, or has no tables yet.
    package static func openForReading(
        _ name: String, in directory: SafeDirectory, _ schema: DatabaseSchema
    ) throws -> Database? {
        guard let size = try checkedSize(of: name, in: directory), size > 0 else { return nil }
        let database = try Database(name, in: directory, flags: CSQLITE_OPEN_READONLY)
        return try database.hasSchema(schema) ? database : nil
    }

    /// Returns the size of the database's file, after a check of all files; nil if it does not exist.
    private static func checkedSize(of name: String, in directory: SafeDirectory) throws -> Int? {
        let size = try directory.checkedSize(of: name)
        let logSize = try directory.checkedSize(of: "\(name)-wal") ?? 0
        for suffix in ["-shm", "-journal"] { _ = try directory.checkedSize(of: name + suffix) }
        // SQLite would remove the log, and with it the last transactions.
        if size ?? 0 == 0, logSize > 0 { throw DatabaseFailure("\(directory.path)/\(name)", .logOnly) }
        // SQLite would treat it as an empty file. A database has at least one page.
        if let size, 1..<512 ~= size { throw DatabaseFailure("\(directory.path)/\(name)", .notADatabase) }
        return size
    }

    /// - Returns: False if the database is empty.
    private func hasSchema(_ schema: DatabaseSchema) throws -> Bool {
        // Tables and views of a prepared file must not call functions, and damaged cells must be noticed.
        try execute("PRAGMA trusted_schema = OFF")
        try execute("PRAGMA cell_size_check = ON")
        let application = try integer("PRAGMA application_id") ?? 0
        let version = Int(try integer("PRAGMA user_version") ?? 0)
        if application == 0, version == 0, try integer("SELECT count(*) FROM sqlite_master") == 0 { return false }
        guard application == schema.application else { throw DatabaseFailure(path, .foreign) }
        guard version == schema.version else {
            throw DatabaseFailure(path, .otherVersion(version, supported: schema.version))
        }
        return true
    }

    private func configure() throws {
        let mode = try rows("PRAGMA journal_mode = WAL") { $0.text(0) }.first ?? nil
        guard mode == "wal" else {
            throw DatabaseFailure(path, .failed(code: 1, "its file system does not support a shared log"))
        }
        try execute("PRAGMA synchronous = FULL")
        #if canImport(Darwin)
            // Otherwise, the data may be left in the drive's cache.
            try execute("PRAGMA fullfsync = ON")
            try execute("PRAGMA checkpoint_fullfsync = ON")
        #endif
        // Removed data is overwritten, because it may belong to a user who has logged out.
        try execute("PRAGMA secure_delete = ON")
        // Lets the files shrink again after large amounts of data were stored and removed.
        try execute("PRAGMA journal_size_limit = 4194304")
        if try integer("PRAGMA freelist_count") ?? 0 > 1000 { try execute("PRAGMA incremental_vacuum") }
    }
}
