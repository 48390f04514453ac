// Locks: Values without a lock.

import FeathersCore
public import Foundation

/// The result of a live query at one moment: its rows, with the changes since the previous snapshot.
///
/// ```swift
/// for try await snapshot in messages.live().snapshots {
///     for row in snapshot { print(row.record.text, row.state == .pending ? "…" : "✓") }
/// }
/// ```
public struct LiveSnapshot<Record: Sendable>: RandomAccessCollection, Sendable {
    /// The records, sorted and limited by the query.
    public let records: LiveList<Record>
    /// The rows: the records with their states.
    public let rows: LiveList<LiveRow<Record>>
    /// Where the records come from.
    public let source: ResultSource
    /// The number of records in the whole result, beyond the limit too, with the queued writes applied; nil if the
    /// server does not report it.
    public let total: Int?
    /// Whether ``total`` is an estimate, because something concerned a record beyond the known part of the result.
    public let isTotalEstimated: Bool
    /// The number of records that are left out, because the model cannot be decoded from them: see
    /// ``FeathersApp/requiresDecodableRecords``.
    public var undecodableCount: Int { liveContent.undecodableCount }
    /// Whether more records follow, which ``LiveQuery/loadMore(_:at:)`` shows.
    public let hasMore: Bool
    /// Whether there are records before the first one. Only a list around a record may have some.
    public let hasMoreBefore: Bool
    let difference: LiveDifference
    /// The related records, if the query includes any.
    let relatedRecords: RelatedRecords?
    /// The user to whom the records are shown.
    let shownIdentity: Identity?
    let liveContent: LiveContent

    /// - Parameter rows: Rows that have been decoded.
    init(
        _ rows: ResultRows, _ content: LiveContent, _ difference: LiveDifference, identity: Identity?,
        related: RelatedRecords? = nil
    ) {
        let (firstKeys, unknown) = (content.firstKeys, content.unknown)
        records = LiveList(rows) { $0.shown() }
        self.rows = LiveList(rows) { row in
            LiveRow(
                id: firstKeys.shown(row.key), record: row.shown(), state: row.writeState, write: row.write,
                related: related.map { ($0, row) }, unknown: unknown)
        }
        (self.liveContent, self.relatedRecords) = (content, related)
        (source, total, isTotalEstimated) = (content.source, content.total, content.isTotalEstimated)
        (hasMore, hasMoreBefore) = (content.hasMore, content.hasMoreBefore)
        (self.difference, self.shownIdentity) = (difference, identity)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }
    public subscript(position: Int) -> LiveRow<Record> { rows[position] }

    /// Whether any of the records has a write that the server has not confirmed.
    public var hasPendingWrites: Bool { rows.resultRows.contains { $0.writeState != .confirmed } }

    /// The changes since the previous snapshot. In the first snapshot, every record is an insertion.
    public var changes: LiveChanges {
        var changes = LiveChanges(difference)
        if let relatedRecords, relatedRecords.hasChanged {
            let known = Set(changes.insertions + changes.updates)
            changes.update(
                rows.indices.filter { !known.contains($0) && relatedRecords.hasChanged(rows.resultRows[$0]) })
        }
        return changes
    }

    /// What is not here, if these are the records of a relation.
    var missing: MissingRecords { liveContent.missing }

    /// Returns the same rows with related records.
    func with(_ related: RelatedRecords, _ difference: LiveDifference) -> LiveSnapshot {
        LiveSnapshot(rows.resultRows, liveContent, difference, identity: shownIdentity, related: related)
    }

    /// Returns the changes since other rows were shown.
    func difference(since earlier: ResultRows) -> LiveDifference {
        LiveDifference(
            rows.resultRows.changes(since: earlier), of: rows.resultRows, since: earlier,
            firstKeys: liveContent.firstKeys)
    }
}

extension ResultRow {
    func shown<Record: Sendable>(as type: Record.Type = Record.self) -> Record {
        guard let element = element(as: type) else {
            preconditionFailure("Every row is decoded, or it is left out")
        }
        return element
    }
}

/// Whether the server has confirmed a record of a live query.
public enum RecordState: Sendable, Equatable {
    /// The record is as the server last reported it.
    case confirmed
    /// A queued write is applied to the record, and the server has not responded yet.
    case pending
    /// A queued write to the record needs a decision: see ``Outbox/decide(_:for:)``.
    ///
    /// A refused write is no longer applied, except that a record it would create stays visible. A write with an
    /// unknown outcome stays applied.
    indirect case failed(OutboxFailure)
}

/// Where the records of a live query come from.
public enum ResultSource: Sendable, Hashable {
    /// From this device: the last list of the server, received at this time, with what has changed since. If there is
    /// none, the date is `.distantPast`, and the records are those of queued writes, and those that are newer than all
    /// stored lists of the service, if there are any.
    case stored(since: Date)
    /// From the server.
    case server
}

/// The ranges in which two snapshots differ.
struct LiveDifference: Sendable {
    /// A row that only one of two snapshots has.
    struct Mark: Sendable {
        /// The key under which the record was shown first.
        let key: String
        let version: Int
    }

    let ranges: [ResultRows.Change]
    /// The rows in the ranges. Empty if the ranges of one snapshot are, because then nothing can have moved.
    private(set) var old: [Mark] = []
    private(set) var new: [Mark] = []

    /// - Parameters:
    ///   - ranges: Where the rows differ.
    ///   - rows: The rows of a snapshot.
    ///   - earlier: The rows of the previous one.
    ///   - firstKeys: The keys under which records were shown before.
    init(_ ranges: [ResultRows.Change], of rows: ResultRows, since earlier: ResultRows, firstKeys: FirstKeys) {
        self.ranges = ranges
        guard ranges.contains(where: { !$0.old.isEmpty }), ranges.contains(where: { !$0.new.isEmpty }) else { return }
        func mark(_ row: ResultRow) -> Mark { Mark(key: firstKeys.shown(row.key), version: row.version) }
        old = ranges.flatMap { range in range.old.map { mark(earlier[$0]) } }
        new = ranges.flatMap { range in range.new.map { mark(rows[$0]) } }
    }

    var isEmpty: Bool { ranges.isEmpty }
}

/// The differences between two snapshots, in the form that list views animate.
public struct LiveChanges: Sendable, Hashable {
    /// A record that moved to another index.
    public struct Move: Sendable, Hashable {
        /// The index in the previous snapshot.
        public let from: Int
        /// The index in this snapshot.
        public let to: Int
    }

    /// The indices, in the previous snapshot, of the records that were removed, in ascending order.
    public private(set) var removals: [Int] = []
    /// The indices of the inserted records, in ascending order.
    public private(set) var insertions: [Int] = []
    /// The records that moved relative to the others.
    public private(set) var moves: [Move] = []
    /// The indices of the records whose properties changed, or whose related records did, in ascending order. These
    /// records may also have moved.
    public private(set) var updates: [Int] = []

    mutating func update(_ indices: [Int]) { updates = (updates + indices).sorted() }

    init(_ difference: LiveDifference) {
        guard !difference.old.isEmpty else {
            (removals, insertions) = (difference.ranges.flatMap(\.old), difference.ranges.flatMap(\.new))
            return
        }
        var (old, new) = (difference.old[...], difference.new[...])
        var gone: [String: Int] = [:]
        var come: [(index: Int, key: String)] = []
        // The rows between the ranges stay, so only rows of the same range can keep their order.
        for range in difference.ranges {
            for change in new.prefix(range.new.count).map(\.key).difference(
                from: old.prefix(range.old.count).map(\.key))
            {
                switch change {
                case .remove(let index, let key, _): gone[key] = range.old.lowerBound + index
                case .insert(let index, let key, _): come.append((range.new.lowerBound + index, key))
                }
            }
            (old, new) = (old.dropFirst(range.old.count), new.dropFirst(range.new.count))
        }
        for (index, key) in come {
            if let origin = gone.removeValue(forKey: key) {
                moves.append(Move(from: origin, to: index))
            } else {
                insertions.append(index)
            }
        }
        removals = gone.values.sorted()
        let versions = Dictionary(difference.old.map { ($0.key, $0.version) }) { first, _ in first }
        updates = zip(difference.ranges.flatMap(\.new), difference.new).compactMap { index, mark in
            versions[mark.key].flatMap { $0 == mark.version ? nil : index }
        }
    }
}
