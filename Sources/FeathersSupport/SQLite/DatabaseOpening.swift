import CSQLite
import Foundation

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
    /// The processor time that opening may take. An intact file takes milliseconds.
    package static let openingLimit = Duration.seconds(10)
    /// How often a database is opened again because its files have changed meanwhile.
    private static let attempts = 10

    /// Opens a database for writing, or creates one with mode 0600.
    ///
    /// A file that is refused is not changed. Whether a file is intact is not checked as a whole, which would take as
    /// long as reading all of it: after a killed process, SQLite recovers the log by its checksums, and damage shows
    /// when the damaged page is read.
    /// - Throws: ``DatabaseFailure`` or ``FileFailure``, which name the file.
    package static func open(
        _ name: String, in directory: SafeDirectory, _ schema: DatabaseSchema, within limit: Duration = openingLimit
    ) throws -> Database {
        // Loaded first, so that no file is created if the library is missing.
        _ = try SQLiteLibrary.functions(for: "\(directory.path)/\(name)")
        _ = try directory.resolvedPath
        if try DatabaseFiles(name, in: directory).size == nil {
            // SQLite would create a file that others can read. SQLite gives its own files the mode of this one.
            _ = try directory.create(name)
            try directory.synchronize()
        }
        let database = try attempt(name, in: directory) { files in
            let database = try Database(name, in: directory, flags: CSQLITE_OPEN_READWRITE)
            try database.limited(to: limit) {
                let isNew = try !database.hasSchema(schema)
                // Takes effect only before the first table is created. Without it, free pages would stay in the file.
                if isNew { try database.execute("PRAGMA auto_vacuum = INCREMENTAL") }
                try database.configure()
                if isNew { try database.create(schema) }
                // Left by a process that did not close the database. If another one reads it, the owner tries later.
                if files.hasLog { _ = try? database.checkpoint(waitingAtMost: checkpointWait) }
            }
            return database
        }
        guard let database else { throw FileFailure("\(directory.path)/\(name)", .system(ENOENT)) }
        return database
    }

    /// Gives the files of a closed database other names. The log goes first: a database without one is whole.
    package static func rename(_ name: String, to other: String, in directory: SafeDirectory) throws {
        for suffix in ["-wal", "-shm", ""] { try directory.rename(name + suffix, to: other + suffix) }
        try directory.synchronize()
    }

    /// Opens a database that another process may be writing.
    /// - Returns: Nil if the database does not exist, or has no tables yet.
    package static func openForReading(
        _ name: String, in directory: SafeDirectory, _ schema: DatabaseSchema, within limit: Duration = openingLimit
    ) throws -> Database? {
        try attempt(name, in: directory) { files in
            guard let size = files.size, size > 0 else { return nil }
            let database = try Database(name, in: directory, flags: CSQLITE_OPEN_READONLY)
            return try database.limited(to: limit) { try database.hasSchema(schema) ? database : nil }
        }
    }

    /// Checks the files of a database before and after it is opened.
    private static func attempt(
        _ name: String, in directory: SafeDirectory, _ open: (DatabaseFiles) throws -> Database?
    ) throws -> Database? {
        for _ in 0..<attempts {
            let files = try DatabaseFiles(name, in: directory)
            guard let database = try open(files) else { return nil }
            if try files.areOpen() { return database }
        }
        throw FileFailure(
            "\(directory.path)/\(name)",
            .refused(
                "its files were replaced while it was being opened; make sure that no other program uses the folder"))
    }

    private func create(_ schema: DatabaseSchema) throws {
        try transaction {
            for statement in schema.statements { try execute(statement) }
            try execute("PRAGMA application_id = \(schema.application)")
            try execute("PRAGMA user_version = \(schema.version)")
        }
    }

    /// - Returns: False if the database is empty.
    private func hasSchema(_ schema: DatabaseSchema) throws -> Bool {
        // Damaged cells must be noticed, and a file that others shorten must not end the process.
        try execute("PRAGMA cell_size_check = ON")
        try execute("PRAGMA mmap_size = 0")
        let application = try integer("PRAGMA application_id") ?? 0
        let version = Int(try integer("PRAGMA user_version") ?? 0)
        let objects = try schemaObjects
        if application == 0, version == 0, objects.isEmpty { return false }
        guard application == schema.application else { throw DatabaseFailure(path, .foreign) }
        guard version == schema.version else {
            throw DatabaseFailure(path, .otherVersion(version, supported: schema.version))
        }
        // Word by word, because a table, an index or a trigger that is not ours could change what statements do.
        let model = try Database(inMemoryFor: path)
        for statement in schema.statements { try model.execute(statement) }
        guard
            let other = try objects.symmetricDifference(model.schemaObjects).min(by: {
                $0.name.lexicographicallyPrecedes($1.name)
            })
        else { return true }
        let (type, name) = (String(decoding: other.type, as: UTF8.self), String(decoding: other.name, as: UTF8.self))
        throw DatabaseFailure(path, .changed("the \(type.prefix(10)) '\(name.prefix(100))'"))
    }

    /// A table, an index, a view or a trigger.
    private struct SchemaObject: Hashable {
        // Bytes, because texts that are equivalent are equal.
        let type, name, table, text: [UInt8]
    }

    private var schemaObjects: Set<SchemaObject> {
        get throws {
            let objects = try rows("SELECT type, name, tbl_name, sql FROM sqlite_master") { row in
                SchemaObject(
                    type: row.bytes(0) ?? [], name: row.bytes(1) ?? [], table: row.bytes(2) ?? [],
                    text: row.bytes(3) ?? [])
            }
            return Set(objects)
        }
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
        guard try integer("PRAGMA secure_delete = ON") == 1 else {
            throw DatabaseFailure(path, .failed(code: 1, "this copy of SQLite does not overwrite removed data"))
        }
        // Lets the files shrink again after large amounts of data were stored and removed.
        try execute("PRAGMA journal_size_limit = 4194304")
        if try integer("PRAGMA freelist_count") ?? 0 > 1000 { try execute("PRAGMA incremental_vacuum") }
    }
}
