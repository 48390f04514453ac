import FeathersCore
import Foundation

extension Outbox {
    /// Opens a journal, and rewrites the writes that an older version of the app has queued.
    /// - Returns: The pending writes in their order, and the ids that the server has assigned.
    static func open(
        _ journal: JournalWriter, _ options: OutboxOptions
    ) async throws -> (writes: [StoredWrite], names: Names) {
        let pending = try await journal.open()
        do {
            let names = Names(stored: try await journal.read { try JournalTables.names(in: $0) })
            return (try await migrate(pending, in: journal, options), names)
        } catch {
            // A later attempt must find the file unlocked.
            await journal.close()
            throw error
        }
    }

    /// Rewrites pending writes as the app wants it, and stores those that have changed together.
    private static func migrate(
        _ pending: [StoredWrite], in journal: JournalWriter, _ options: OutboxOptions
    ) async throws -> [StoredWrite] {
        var changed: [OutboxWrite] = []
        let migrated = try pending.map { stored in
            var write = stored.write
            do {
                try options.migrate(&write)
                guard (write.method == .create) == (stored.write.method == .create) else {
                    throw FeathersError(
                        .badRequest, "A write cannot begin or cease to be a 'create'", execution: .neverSent)
                }
            } catch {
                throw FeathersError(
                    .generalError,
                    "The outbox file '\(journal.file.path)' cannot be used: the write '\(write.id.text)' cannot be "
                        + "migrated: \(error). Nothing was changed",
                    execution: .neverSent, cause: error)
            }
            guard write != stored.write else { return stored }
            write.path = FeathersApp.stripSlashes(write.path)
            write.lane = lane(of: write, insteadOf: stored.write, options)
            changed.append(write)
            var stored = stored
            stored.write = write
            stored.failure?.write = write
            return stored
        }
        if !changed.isEmpty { try await journal.append(.migrated(changed)) }
        return migrated
    }

    /// Returns the lane of a rewritten write. It changes with the path, the route and the record.
    private static func lane(
        of write: OutboxWrite, insteadOf old: OutboxWrite, _ options: OutboxOptions
    ) -> String {
        let record = orderingRecord(of: write, options)
        guard record == orderingRecord(of: old, options) else {
            return record.map { RecordKey.text($0, write.path, write.route) } ?? "#\(write.id.text)"
        }
        // The lane may have the id that the record had before the server assigned another.
        let (place, oldPlace) = (RecordKey.place(write.path, write.route), RecordKey.place(old.path, old.route))
        guard old.lane.hasPrefix(oldPlace) else { return old.lane }
        return place + old.lane.dropFirst(oldPlace.count)
    }

    private static func orderingRecord(of write: OutboxWrite, _ options: OutboxOptions) -> ServiceID? {
        guard write.method == .create else { return write.recordID }
        let property = options.service(at: write.path).recordIDProperty
        return property.flatMap { write.data?[$0] }.flatMap { ServiceID($0) } ?? .string(write.id.text)
    }
}
