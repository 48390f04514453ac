import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersSync

extension OutboxWrite {
    /// A write whose key is made of a number.
    static func sample(
        _ number: Int, lane: String? = nil, data: JSONValue = ["text": "Hi"], identity: Identity? = nil,
        after previous: Int? = nil
    ) -> OutboxWrite {
        let id = UUID.sample(number)
        return OutboxWrite(
            id: id, key: id, path: "messages", method: .patch, recordID: .integer(Int64(number)), data: data,
            query: Query(["$select": ["id"]]), route: ["room": "a/b"],
            date: Date(timeIntervalSince1970: 1_700_000_000.25),
            identity: identity, lane: lane ?? "messages#\(number)", previous: previous.map(UUID.sample))
    }
}

extension UUID {
    static func sample(_ number: Int) -> UUID {
        let (high, low) = (UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number))
        return UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, high, low))
    }
}

extension ExecutedResult {
    /// The result of a write whose response is the whole record.
    static func sample(_ number: Int, _ result: JSONValue, to name: String? = nil) -> ExecutedResult {
        var write = OutboxWrite.sample(number)
        write.query = Query()
        return ExecutedResult(write: write, result: result, identity: name.map { Identity($0) })
    }
}

/// A journal's events by numbers, and what they result in.
enum SampleJournal {
    static let refusal = FeathersError(.conflict, "Somebody was faster", data: ["version": 3], errors: ["text": "old"])

    /// Events of each kind, and writes in every stage.
    static let events: [WriteEvent] = [
        .added(.sample(1)), .added(.sample(2)), .begun(.sample(1)), .added(.sample(3)),
        .ended(
            .sample(1), made: ["provisional": 7],
            executed: .sample(1, ["id": 1], to: "alice")),
        .taken(by: Identity("alice")), .begun(.sample(2)),
        .failed(.sample(2), .conflict, refusal, mayHaveExecuted: false),
        .replaced(.sample(2), key: .sample(9), data: ["text": "Ho"], base: ["text": "He"], tag: "t"),
        .begun(.sample(3)), .released(.sample(3)), .begun(.sample(3)),
        .failed(.sample(3), .unknown, refusal, mayHaveExecuted: true), .added(.sample(4)), .ended(.sample(4)),
        .queued([.sample(5), .sample(6, after: 5), .sample(7, after: 6)]),
        .migrated([.sample(5, data: ["body": "Hi"]), .sample(6, data: ["body": "Hi"], after: 5)]),
        .ended(.sample(5), dependents: [.sample(6), .sample(7)]),
    ]
}

extension WriteEvent {
    static func added(_ write: OutboxWrite) -> Self { .queued([write]) }
    static func released(_ id: UUID) -> Self { .deferred(id, .again, .neverSent) }

    static func failed(
        _ id: UUID, _ reason: OutboxFailure.Reason, _ error: FeathersError, mayHaveExecuted: Bool
    ) -> Self {
        var write = OutboxWrite.sample(0)
        write = OutboxWrite(
            id: id, key: id, path: write.path, method: .patch, query: Query(), route: [:], date: write.date, lane: "")
        return .failed(OutboxFailure(write: write, reason: reason, error: error, mayHaveExecuted: mayHaveExecuted))
    }

    static func replaced(
        _ id: UUID, key: UUID, data: JSONValue, base: JSONValue? = nil, tag: String? = nil
    ) -> Self { .decided(id, Replacement(key: key, data: data, base: base, tag: tag)) }

    static func ended(
        _ id: UUID, made: [String: ServiceID] = [:], executed: ExecutedResult? = nil, dependents: [UUID] = []
    ) -> Self {
        var end = WriteEnd(write: id, outcome: .discarded, names: made.mapValues { .assigned($0) }, stored: executed)
        end.dependents = Dictionary(uniqueKeysWithValues: dependents.map { ($0, .group) })
        return .ended(end)
    }
}

extension Journal {
    /// Appends one event after the other.
    func append(_ events: WriteEvent...) throws {
        for event in events {
            for refusal in try append([Journal.entry(event)]) { if let refusal { throw refusal } }
        }
    }
}

extension JournalWriter {
    /// Makes storing fail, as on a disk that cannot be written.
    func refuseWrites(_ isOn: Bool) throws {
        try journal?.database.execute("PRAGMA query_only = \(isOn ? "ON" : "OFF")")
    }

    /// Occupies the thread of the disk until the semaphore is signalled.
    func hold(_ began: Promise<Void>, until semaphore: DispatchSemaphore) {
        began.resolve(())
        semaphore.wait()
    }
}

extension OutboxFolder {
    func bytes(of name: String) throws -> [UInt8] { Array(try Data(contentsOf: url.appending(path: name))) }

    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: url.appending(path: name))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: url.appending(path: name).path)
    }

    /// The database and its log, as a process that is killed now would leave them.
    func copy() throws -> OutboxFolder {
        let copy = try OutboxFolder()
        for name in ["writes.outbox", "writes.outbox-wal"]
        where FileManager.default.fileExists(atPath: url.appending(path: name).path) {
            try copy.write(bytes(of: name), to: name)
        }
        return copy
    }

    /// The pending writes that a process would find that opened a copy of the files now.
    func found() throws -> [StoredWrite] {
        // The copy is removed with its object.
        try withExtendedLifetime(copy()) { copy in
            let journal = try Journal(copy.file)
            defer { journal.close() }
            return journal.takeOpened()
        }
    }
}

extension [StoredWrite] {
    /// All of it as text, to be compared.
    var text: [String] {
        map { stored in
            let failure = stored.failure.map { "\($0.reason) \($0.error) \($0.error.execution) \($0.mayHaveExecuted)" }
            return "\(stored.write) \(stored.execution) \(failure ?? "")"
        }
    }
}
