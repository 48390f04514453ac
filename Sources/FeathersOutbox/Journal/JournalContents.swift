import FeathersCore
import Foundation

/// What a journal says of a write that is not done with.
struct StoredWrite: Sendable {
    var write: OutboxWrite
    /// Its place in the order of all writes.
    let number: Int
    /// Whether an attempt may have been executed.
    var mayHaveExecuted = false
    /// Why a decision is needed, where it is.
    var failure: OutboxFailure?
}

/// What all records of a journal come to.
struct JournalContents: Sendable {
    private var writes: [UUID: StoredWrite] = [:]
    private var addedCount = 0

    /// The writes in the order they were handed in.
    var inOrder: [StoredWrite] { writes.values.sorted { $0.number < $1.number } }

    mutating func apply(_ record: JournalRecord) {
        switch record {
        case .added(let write):
            addedCount += 1
            writes[write.id] = StoredWrite(write: write, number: addedCount)
        case .begun(let id):
            writes[id]?.mayHaveExecuted = true
            writes[id]?.failure = nil
        case .released(let id):
            writes[id]?.mayHaveExecuted = false
            writes[id]?.failure = nil
        case .failed(let id, let reason, let error, let mayHaveExecuted):
            guard let write = writes[id]?.write else { return }
            writes[id]?.mayHaveExecuted = mayHaveExecuted
            writes[id]?.failure = OutboxFailure(write: write, reason: reason, error: error, mayHaveExecuted: mayHaveExecuted)
        case .replaced(let id, let key, let data):
            writes[id]?.write.key = key
            writes[id]?.write.data = data
            writes[id]?.mayHaveExecuted = false
            writes[id]?.failure = nil
        case .ended(let id): writes[id] = nil
        }
    }

    /// The fewest records that come to the same.
    var records: [JournalRecord] {
        inOrder.flatMap { stored -> [JournalRecord] in
            let added = JournalRecord.added(stored.write)
            if let failure = stored.failure {
                return [added, .failed(stored.write.id, failure.reason, failure.error, mayHaveExecuted: failure.mayHaveExecuted)]
            }
            return stored.mayHaveExecuted ? [added, .begun(stored.write.id)] : [added]
        }
    }
}
