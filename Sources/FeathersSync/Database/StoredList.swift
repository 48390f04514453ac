// Locks: Values without a lock.

import FeathersCore
import FeathersSupport

/// What was read of a list, and what completes it.
struct StoredList: Sendable {
    /// Nil if no list is stored.
    private(set) var head: ListHead?
    private(set) var chunks: [SavedList.Chunk] = []
    /// The records that were read last, in the order of the list, if they were not removed since.
    private(set) var records: [StoredRecord] = []
    /// Whether records of the list were removed since it was stored.
    private(set) var lacksRecords = false
    /// Whether the list does not count, because it is not as it was stored.
    private(set) var isDamaged = false
    /// What has changed since the list was stored, in the order of the changes; without a list, since one of the
    /// service was stored last.
    private(set) var newer: [StoredRecord] = []
    /// Whether more may have changed.
    private(set) var hasNewer = false
    /// The pending writes; nil if an outbox of this process has them.
    private(set) var writes: [StoredWrite]?
    /// The number of the service, and of the one that has the records.
    private var (service, owner) = (0, 0)

    /// Reads the beginning of a list in one step.
    /// - Parameters:
    ///   - count: The number of records to read, and of changes.
    ///   - old: The list as it was found before. Its records are not read again if it is the same.
    init(
        _ key: ListKey, atMost count: Int, after old: StoredList?, withWrites: Bool, in database: Database
    ) throws {
        if withWrites { writes = try JournalTables.writes(in: database, at: key.service.path) }
        guard let service = try RecordTables.service(key.service, in: database) else { return }
        self.service = service
        head = try ListTables.head(key.text, of: service, in: database)
        owner = service
        if let head {
            if head.isShaped { owner = try RecordTables.service(of: head.number, in: database) ?? 0 }
            if let old, head.isSame(as: old.head) {
                (chunks, lacksRecords) = (old.chunks, old.lacksRecords)
            } else {
                do { try readNext(count, in: database) } catch is DamagedList { isDamaged = true }
            }
        }
        if isDamaged { ignore() }
        try readNewer(count, in: database)
    }

    /// Takes the list as one that is not stored.
    mutating func ignore() { (head, chunks, records) = (nil, [], []) }

    /// Whether there are more keys than were read.
    var isPart: Bool { head.map { $0.count > chunks.reduce(0) { $0 + $1.count } } ?? false }

    /// Reads the next records of the list.
    /// - Returns: Whether it is still the same.
    mutating func readNext(_ count: Int, _ key: ListKey, in database: Database) throws -> Bool {
        guard let head, head.isSame(as: try ListTables.head(key.text, of: service, in: database)) else { return false }
        try readNext(count, in: database)
        return true
    }

    private mutating func readNext(_ count: Int, in database: Database) throws {
        guard let head else { return }
        records = []
        let place = chunks.last?.place ?? 0
        for chunk in try ListTables.chunks(of: head.number, after: place, keys: count, in: database) {
            chunks.append(SavedList.Chunk(place: chunk.place, count: chunk.keys.count))
            for key in chunk.keys {
                guard let record = try RecordTables.record(key, of: owner, in: database) else { throw DamagedList() }
                if record.json == nil { lacksRecords = true } else { records.append(record) }
            }
        }
    }

    /// Reads what has changed since.
    mutating func readNewer(_ count: Int, in database: Database) throws {
        let start = try head?.change ?? ListTables.lastChange(of: service, in: database)
        let (change, number) = newer.last.map { ($0.change, $0.number) } ?? (start + 1, 0)
        let next = try RecordTables.records(of: service, after: change, number, atMost: count, in: database)
        newer += next
        hasNewer = next.count == count
    }
}
