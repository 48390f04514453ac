import FeathersCore
import FeathersSupport
import Foundation

/// The file of an outbox. Appended records are durable.
///
/// Blocks during disk access: do not call it on the shared thread pool.
struct Journal: Sendable {
    /// A record together with its bytes in the file.
    struct Entry: Sendable {
        let record: JournalRecord
        let bytes: [UInt8]
    }

    /// The capacity of a journal. Opening a journal reads all of it into memory.
    struct Limits: Sendable {
        /// The maximum number of writes.
        var writes = 100_000
        /// The maximum size of the writes' data, in bytes.
        var dataBytes = 256 * 1024 * 1024
        /// The maximum size of the errors with which a server refused them, in bytes.
        var failureBytes = 16 * 1024 * 1024
    }

    private let disk: any JournalDisk
    private let name: String
    /// The file's path, for error messages.
    private let path: String
    private var file: any JournalFile
    /// The offset of the next record.
    private(set) var length: Int
    private(set) var contents = JournalContents()
    /// The length at which the file is rewritten.
    private var rewriteLength: Int
    /// Why the journal no longer accepts records; nil while it does.
    private var failure: FeathersError?

    private let smallestRewrite: Int
    private let limits: Limits

    /// Opens a journal, or creates one, and truncates an incomplete record at its end.
    ///
    /// Files smaller than `smallestRewrite` bytes are not rewritten.
    /// - Throws: ``FeathersError`` naming the file if it cannot be used, with the offset of the first damaged record.
    init(
        on disk: any JournalDisk, name: String, path: String, smallestRewrite: Int = 64 * 1024,
        limits: Limits = Limits()
    ) throws {
        (self.disk, self.name, self.path, self.limits) = (disk, name, path, limits)
        (self.smallestRewrite, rewriteLength) = (smallestRewrite, smallestRewrite)
        do {
            try disk.lock()
            // A process that died while it rewrote the file left a draft.
            try disk.remove(Self.draft(of: name))
            let bytes = try disk.read(name) ?? []
            let found = try JournalFormat.contents(of: bytes)
            guard found.length > 0 else {
                (file, length) = try Self.begin([], on: disk, name: name)
                return
            }
            for record in found.records {
                guard let step = JournalRecord(payload: record.payload) else {
                    throw JournalFormat.Failure.damaged(offset: record.offset)
                }
                contents.apply(step, size: record.size)
                // No journal ever held more, so there is no need to read the rest.
                guard contents.count <= limits.writes else { throw TooManyWrites(limit: limits.writes) }
            }
            (file, length) = (try disk.open(name), found.length)
            if found.length < bytes.count {
                try file.truncate(to: length)
                try file.synchronize()
            }
        } catch {
            // After the file is repaired, a later attempt must find it unlocked.
            disk.unlock()
            throw Self.failure(path, "cannot be used", error)
        }
    }

    /// Appends records and waits until they are on disk: either all of them or none.
    /// - Throws: ``FeathersError`` naming the file and the system's reason. If a partial write cannot be undone, every
    ///   later call throws too.
    mutating func append(_ entries: [Entry]) throws {
        if let failure { throw failure }
        let bytes = entries.flatMap(\.bytes)
        do {
            try file.write(bytes, at: length)
            try file.synchronize()
        } catch {
            let failed = Self.failure(path, "cannot be written", error)
            do {
                try file.truncate(to: length)
                try file.synchronize()
            } catch {
                failure = failed
            }
            throw failed
        }
        length += bytes.count
        for entry in entries { contents.apply(entry.record, size: entry.bytes.count) }
        // If that fails, the current file stays in use: it is correct, only longer.
        if length >= rewriteLength { try? rewrite() }
    }

    /// Removes the results of executed writes that were sent to a user, from the file too; those of all users if it is
    /// nil.
    /// - Throws: ``FeathersError`` naming the file if it cannot be written.
    mutating func removeResults(of identity: Identity?) throws {
        if let failure { throw failure }
        contents.removeResults(of: identity)
        do { try rewrite() } catch { throw Self.failure(path, "cannot be written", error) }
    }

    /// Rewrites the file with only the pending writes and the results of the last executed ones.
    private mutating func rewrite() throws {
        rewriteLength = length * 2
        do {
            (file, length) = try Self.begin(
                try contents.records.map { try Self.entry($0, path: path) }, on: disk, name: name)
            rewriteLength = max(smallestRewrite, length * 2)
        } catch let error as UncertainFolder {
            // After a power failure, either of the two files may be found, so no record can be added to either.
            failure = Self.failure(path, "cannot be written", error.cause)
            throw error
        }
    }

    /// Atomically replaces the file with a new one.
    private static func begin(_ entries: [Entry], on disk: any JournalDisk, name: String) throws -> (
        any JournalFile, Int
    ) {
        let bytes = JournalFormat.header + entries.flatMap(\.bytes)
        let draft = Self.draft(of: name)
        let file: any JournalFile
        do {
            file = try disk.create(draft)
            try file.write(bytes, at: 0)
            try file.synchronize()
            try disk.rename(draft, to: name)
        } catch {
            // On a full disk, the draft would take the remaining space.
            try? disk.remove(draft)
            throw error
        }
        do { try disk.synchronize() } catch { throw UncertainFolder(cause: error) }
        return (file, bytes.count)
    }

    private static func draft(of name: String) -> String { "\(name).new" }

    private struct UncertainFolder: Error {
        let cause: any Error
    }

    private struct TooManyWrites: Error {
        let limit: Int
    }

    /// Encodes a record.
    /// - Throws: ``FeathersError/Code/badRequest`` if the record cannot be encoded as JSON, or is too long.
    static func entry(_ record: JournalRecord, path: String) throws -> Entry {
        let payload: [UInt8]
        do {
            payload = try record.payload()
        } catch {
            throw FeathersError(.badRequest, "The write cannot be encoded as JSON: \(error)", execution: .neverSent)
        }
        guard let bytes = JournalFormat.record(payload) else {
            throw FeathersError(
                .badRequest, "The write is too long for the outbox file '\(path)'", execution: .neverSent)
        }
        return Entry(record: record, bytes: bytes)
    }

    private static func failure(_ path: String, _ what: String, _ error: any Error) -> FeathersError {
        let reason =
            switch error {
            case JournalFormat.Failure.foreign: "it is not an outbox file"
            case JournalFormat.Failure.otherVersion(let version):
                "it has version \(version); only \(JournalFormat.version) is supported"
            case JournalFormat.Failure.damaged(let offset):
                "it is damaged at byte \(offset). Nothing was changed; move the file to start with an empty one"
            case let error as UncertainFolder: "\(error.cause)"
            case let error as TooManyWrites:
                "it holds more than \(error.limit) writes, which is the limit. Nothing was changed"
            default: "\(error)"
            }
        return FeathersError(
            .generalError, "The outbox file '\(path)' \(what): \(reason)", execution: .neverSent, cause: error)
    }
}

// MARK: - Reading beside a writer

extension Journal {
    /// Returns the contents of a journal that another process may be writing. Changes nothing.
    static func peek(at file: URL) throws -> JournalContents {
        guard let directory = try SafeDirectory.open(file.deletingLastPathComponent().path),
            let bytes = try directory.open(file.lastPathComponent)?.readAll(atMost: Int(Int32.max))
        else { return JournalContents() }
        var contents = JournalContents()
        // A record at the end may be incomplete while the other process writes it.
        for record in try JournalFormat.contents(of: bytes).records {
            guard let step = JournalRecord(payload: record.payload) else {
                throw JournalFormat.Failure.damaged(offset: record.offset)
            }
            contents.apply(step, size: record.size)
        }
        return contents
    }
}

// MARK: - Limits

extension Journal {
    /// The remaining capacity of the journal.
    var room: Room { Room(path: path, limits: limits, contents: contents) }

    /// The remaining capacity for a batch of records, reserved before they are written.
    struct Room: Sendable {
        private let path: String
        private let limits: Limits
        private var writes: Int
        private var dataBytes: Int
        private var failureBytes: Int

        fileprivate init(path: String, limits: Limits, contents: JournalContents) {
            (self.path, self.limits) = (path, limits)
            (writes, dataBytes, failureBytes) = (contents.count, contents.dataSize, contents.failureSize)
        }

        /// Reserves room for a record. Records of a write's progress always fit: otherwise, a full journal would stay
        /// full.
        /// - Throws: ``FeathersError`` naming the file and the limit.
        mutating func take(_ entry: Entry) throws {
            switch entry.record {
            case .added:
                guard writes < limits.writes else { throw full("\(limits.writes) writes") }
                try takeData(entry.bytes.count)
                writes += 1
            case .replaced: try takeData(entry.bytes.count)
            case .failed(_, _, let error, _) where error.data != nil || error.errors != nil:
                guard failureBytes + entry.bytes.count <= limits.failureBytes else {
                    throw full("\(limits.failureBytes) bytes of errors")
                }
                failureBytes += entry.bytes.count
            case .claimed, .begun, .released, .failed, .ended: break
            }
        }

        private mutating func takeData(_ count: Int) throws {
            guard dataBytes + count <= limits.dataBytes else { throw full("\(limits.dataBytes) bytes of data") }
            dataBytes += count
        }

        private func full(_ limit: String) -> FeathersError {
            FeathersError(
                .generalError, "The outbox file '\(path)' is full: it can hold at most \(limit)", execution: .neverSent)
        }
    }
}
