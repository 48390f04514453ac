import FeathersCore
import FeathersSupport
import Foundation

/// The database of a disk cache. Runs on a thread of its own, because it waits for the disk.
///
/// Several processes may use it: SQLite's locks keep their transactions apart, and a lock on the directory keeps them
/// from opening the database at the same time.
actor CacheDatabase {
    static let name = "cache.sqlite"
    static let lockName = "lock"
    static let schema = DatabaseSchema(
        application: 0x4643_4143, version: 1,
        statements: [
            // Sizes come first, because SQLite reads large rows from their beginning.
            """
            CREATE TABLE entries (size INTEGER NOT NULL, used INTEGER NOT NULL, expiry REAL, grp TEXT NOT NULL,
            key TEXT NOT NULL, tag TEXT, value TEXT NOT NULL)
            """,
            "CREATE UNIQUE INDEX entries_key ON entries (grp, key)",
            "CREATE INDEX entries_used ON entries (used, size)",
            "CREATE INDEX entries_expiry ON entries (expiry)",
        ])
    private static let longestWait = Duration.seconds(2)
    /// The number of uses that are noted before they are stored even without another write.
    private static let notedUses = 100

    private let path: String
    private let byteLimit: Int
    private let synchronizesWrites: Bool
    private let lock: DirectoryLock
    private let executor = DiskExecutor(label: "feathers.disk-cache")
    private var opened: (database: Database, directory: SafeDirectory)?
    /// The total size of the entries, as of a version of the database. Summing takes 1 ms for 10,000 entries.
    private var known: (version: Int64, bytes: Int)?
    /// The entries that were read since the last write, in their order.
    private var uses: [CacheKey] = []
    private let clock: RelativeClock
    /// Empties the database's log some seconds after it has changed.
    private(set) var emptying: Task<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(path: String, byteLimit: Int, synchronizesWrites: Bool, clock: RelativeClock) {
        (self.path, self.byteLimit, self.synchronizesWrites) = (path, byteLimit, synchronizesWrites)
        self.clock = clock
        lock = DirectoryLock(path: path, name: Self.lockName, clock: clock)
    }

    deinit { emptying?.cancel() }

    func entry(for key: CacheKey) async throws -> CacheEntry? {
        // A read does not create the directory.
        guard try opened != nil || SafeDirectory.open(path) != nil else { return nil }
        return try await use { database in
            let entries = try database.rows(
                "SELECT value, expiry, tag FROM entries WHERE grp = ? AND key = ?", .text(key.group), .text(key.text)
            ) { row in
                try? row.bytes(0).map { text in
                    CacheEntry(
                        value: try JSONValue(parsing: text[...], maximumDepth: 1024), expiration: try row.date(1),
                        entityTag: try row.string(2))
                }
            }
            // An entry that cannot be read is a miss until it is replaced.
            guard let entry = entries.first ?? nil else { return nil }
            if uses.last != key { uses.append(key) }
            if uses.count >= Self.notedUses {
                try database.transaction { try storeUses(in: database) }
                logChanged()
            }
            return entry
        }
    }

    /// Stores an entry. Removes the least recently used ones first, so that the limit is never exceeded.
    func set(_ entry: CacheEntry, for key: CacheKey) async throws {
        let value = try entry.value.serialized()
        let size = value.count + key.text.utf8.count + key.group.utf8.count + (entry.entityTag?.utf8.count ?? 0) + 64
        try await change { database, total in
            try storeUses(in: database)
            total -=
                try database.number(
                    "SELECT size FROM entries WHERE grp = ? AND key = ?", .text(key.group), .text(key.text)) ?? 0
            try database.execute("DELETE FROM entries WHERE grp = ? AND key = ?", .text(key.group), .text(key.text))
            guard size <= byteLimit else { return }
            while total > byteLimit - size {
                let oldest = try database.rows("SELECT rowid, size FROM entries ORDER BY used LIMIT 1") { row in
                    (row: row.integer(0) ?? 0, size: try row.requiredNumber(1))
                }.first
                guard let oldest else { break }
                try database.execute("DELETE FROM entries WHERE rowid = ?", .integer(oldest.row))
                total -= oldest.size
            }
            total += size
            try database.execute(
                """
                INSERT INTO entries (size, used, expiry, grp, key, tag, value)
                VALUES (?, (SELECT coalesce(max(used), 0) + 1 FROM entries), ?, ?, ?, ?, ?)
                """, SQLiteValue(size),
                entry.expiration.map { .double($0.timeIntervalSinceReferenceDate) } ?? .null, .text(key.group),
                .text(key.text), SQLiteValue(entry.entityTag), .utf8(value))
        }
    }

    func remove(_ condition: String, _ values: SQLiteValue...) async throws {
        guard try opened != nil || SafeDirectory.open(path) != nil else { return }
        known = nil
        try await use { database in
            try database.execute("DELETE FROM entries WHERE \(condition)", values)
            logChanged()
        }
    }

    /// Removes all entries, from the files too unless another process reads them now.
    func removeAll() async throws {
        try await remove("TRUE")
        emptyLog()
    }

    // MARK: The log

    /// Makes the log be emptied soon, so that it does not keep what was removed.
    private func logChanged() {
        guard emptying == nil else { return }
        emptying = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: Database.checkpointDelay)) != nil else { return }
            await self?.endDelay()
        }
    }

    private func endDelay() {
        emptying = nil
        emptyLog()
    }

    private func emptyLog() {
        guard let database = opened?.database,
            (try? database.checkpoint(waitingAtMost: Database.checkpointWait)) != true
        else { return }
        // Another process reads it.
        logChanged()
    }

    func byteCount() async throws -> Int { try await use { try total(in: $0) } }

    private func total(in database: Database) throws -> Int {
        // The total is bounded only if no part is negative. Text is greater than all numbers.
        let sums = try database.rows(
            "SELECT CAST(total(size) AS INTEGER), min(size), max(size), max(used) FROM entries"
        ) { row in
            for column in 1...3 { _ = try row.number(column) }
            return try row.requiredNumber(0)
        }
        return sums.first ?? 0
    }

    /// Changes entries in one transaction. The closure also updates their total size.
    private func change(_ body: (Database, inout Int) throws -> Void) async throws {
        try await use { database in
            let before = known
            known = nil
            logChanged()
            try database.transaction {
                // This connection's own transactions do not change the version.
                let version = try database.dataVersion
                var bytes = try before.flatMap { $0.version == version ? $0.bytes : nil } ?? total(in: database)
                try body(database, &bytes)
                known = (version, bytes)
            }
        }
    }

    /// Makes the entries that were read the most recently used ones.
    private func storeUses(in database: Database) throws {
        for key in uses {
            try database.execute(
                "UPDATE entries SET used = (SELECT max(used) + 1 FROM entries) WHERE grp = ? AND key = ?",
                .text(key.group), .text(key.text))
        }
        uses = []
    }

    // MARK: Opening

    /// Uses the database, which is opened first if needed. A damaged one is replaced, because everything in it can be
    /// fetched again.
    private func use<Result>(_ body: (Database) throws -> Result) async throws -> Result {
        do {
            return try body(try await database())
        } catch let failure as DatabaseFailure where failure.isDamage {
            try await replace()
            return try body(try await database())
        }
    }

    private func database() async throws -> Database {
        // The directory may have been removed or replaced.
        if let opened, try SafeDirectory.open(path, reusing: opened.directory) === opened.directory {
            return opened.database
        }
        (opened, known) = (nil, nil)
        let held = try await lock.lock(waitingAtMost: Self.longestWait)
        defer { held.unlock() }
        if let opened { return opened.database }
        let directory = try SafeDirectory.make(path)
        let database = try Database.open(Self.name, in: directory, Self.schema)
        // Without waiting for the disk, the log is still consistent. A power failure loses only its last transactions.
        if !synchronizesWrites { try database.execute("PRAGMA synchronous = NORMAL") }
        opened = (database, directory)
        logChanged()
        return database
    }

    private func replace() async throws {
        (opened, known) = (nil, nil)
        let held = try await lock.lock(waitingAtMost: Self.longestWait)
        defer { held.unlock() }
        let directory = try SafeDirectory.make(path)
        // Another process may have replaced it meanwhile.
        if let database = try? Database.open(Self.name, in: directory, Self.schema),
            (try? database.rows("PRAGMA quick_check(1)") { $0.text(0) }) == ["ok"], (try? total(in: database)) != nil
        {
            return
        }
        for suffix in ["-wal", "-shm", ""] { try directory.remove(Self.name + suffix) }
    }
}

extension DatabaseFailure {
    /// Whether the file cannot be used by this version, now or later.
    fileprivate var isDamage: Bool {
        switch reason {
        case .damaged, .notADatabase, .otherVersion, .changed, .logOnly: true
        case .noLibrary, .foreign, .full, .failed: false
        }
    }
}
