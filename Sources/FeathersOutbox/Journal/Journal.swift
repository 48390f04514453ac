import FeathersCore

/// The file of an outbox: records that are there for good once they are appended.
///
/// Nothing here waits for anything but the disk: call it off the shared threads.
struct Journal: Sendable {
    /// What is appended: a record, and how it stands in the file.
    struct Entry: Sendable {
        let record: JournalRecord
        let bytes: [UInt8]
    }

    private let disk: any JournalDisk
    private let name: String
    /// What messages call the file.
    private let path: String
    private var file: any JournalFile
    /// Where the next record goes.
    private(set) var length: Int
    private(set) var contents = JournalContents()
    /// The file is written anew when it has become so long.
    private var rewriteLength: Int
    /// Why nothing can be written any more.
    private var failure: FeathersError?

    private let smallestRewrite: Int

    /// Opens a journal, or begins one, and cuts off what was not written to its end.
    /// - Parameter smallestRewrite: the file is not written anew before it has so many bytes.
    /// - Throws: ``FeathersError`` naming the file where it can not be used, and the place of the first damaged record.
    init(on disk: any JournalDisk, name: String, path: String, smallestRewrite: Int = 64 * 1024) throws {
        (self.disk, self.name, self.path) = (disk, name, path)
        (self.smallestRewrite, rewriteLength) = (smallestRewrite, smallestRewrite)
        do {
            try disk.lock()
            // What a process left that died while it wrote the file anew.
            try disk.remove(Self.draft(of: name))
            guard let bytes = try disk.read(name), !bytes.isEmpty else {
                (file, length) = try Self.begin([], on: disk, name: name)
                return
            }
            let found = try JournalFormat.contents(of: bytes)
            guard found.length > 0 else {
                (file, length) = try Self.begin([], on: disk, name: name)
                return
            }
            for record in found.records {
                guard let step = JournalRecord(payload: record.payload) else { throw JournalFormat.Failure.damaged(offset: record.offset) }
                contents.apply(step)
            }
            (file, length) = (try disk.open(name), found.length)
            if found.length < bytes.count {
                try file.truncate(to: length)
                try file.synchronize()
            }
        } catch {
            // Whoever mends the file and tries again must find it free.
            disk.unlock()
            throw Self.failure(path, "can not be used", error)
        }
    }

    /// Writes records behind all others and waits until they are on the disk: all of them, or none.
    /// - Throws: ``FeathersError`` naming the file and the system's reason. Where not even that can be undone, every later call throws too.
    mutating func append(_ entries: [Entry]) throws {
        if let failure { throw failure }
        let bytes = entries.flatMap(\.bytes)
        do {
            try file.write(bytes, at: length)
            try file.synchronize()
        } catch {
            let failed = Self.failure(path, "can not be written", error)
            do {
                try file.truncate(to: length)
                try file.synchronize()
            } catch {
                failure = failed
            }
            throw failed
        }
        length += bytes.count
        for entry in entries { contents.apply(entry.record) }
        if length >= rewriteLength { rewrite() }
    }

    /// Writes the file anew without what is done with. Where that fails, the present one is as good, only longer.
    private mutating func rewrite() {
        rewriteLength = length * 2
        do {
            (file, length) = try Self.begin(try contents.records.map { try Self.entry($0, path: path) }, on: disk, name: name)
            rewriteLength = max(smallestRewrite, length * 2)
        } catch let error as UncertainFolder {
            // Which of the two files is found after a power failure, nobody knows: nothing may be added to either.
            failure = Self.failure(path, "can not be written", error.cause)
        } catch {}
    }

    /// Puts a new file in the place of the old one, in one step.
    private static func begin(_ entries: [Entry], on disk: any JournalDisk, name: String) throws -> (any JournalFile, Int) {
        let bytes = JournalFormat.header + entries.flatMap(\.bytes)
        let file = try disk.create(draft(of: name))
        try file.write(bytes, at: 0)
        try file.synchronize()
        try disk.rename(draft(of: name), to: name)
        do { try disk.synchronize() } catch { throw UncertainFolder(cause: error) }
        return (file, bytes.count)
    }

    private static func draft(of name: String) -> String { "\(name).new" }

    private struct UncertainFolder: Error {
        let cause: any Error
    }

    /// A record as it is appended.
    /// - Throws: ``FeathersError/Code/badRequest`` where it can not be written as JSON, or is too long.
    static func entry(_ record: JournalRecord, path: String) throws -> Entry {
        let payload: [UInt8]
        do {
            payload = try record.payload()
        } catch {
            throw FeathersError(.badRequest, "The write cannot be written as JSON: \(error)", execution: .neverSent)
        }
        guard let bytes = JournalFormat.record(payload) else {
            throw FeathersError(.badRequest, "The write is too long for the outbox file '\(path)'", execution: .neverSent)
        }
        return Entry(record: record, bytes: bytes)
    }

    private static func failure(_ path: String, _ what: String, _ error: any Error) -> FeathersError {
        let reason =
            switch error {
            case JournalFormat.Failure.foreign: "it is no outbox"
            case JournalFormat.Failure.otherVersion(let version): "it is of version \(version), and only \(JournalFormat.version) is known"
            case JournalFormat.Failure.damaged(let offset):
                "it is damaged at byte \(offset). Nothing was changed; move it away to begin with an empty one"
            case let error as UncertainFolder: "\(error.cause)"
            default: "\(error)"
            }
        return FeathersError(.generalError, "The outbox file '\(path)' \(what): \(reason)", execution: .neverSent, cause: error)
    }
}
