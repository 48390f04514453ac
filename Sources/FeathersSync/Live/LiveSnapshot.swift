import FeathersCore
public import Foundation

/// The result of a live query at one moment, with the changes since the previous snapshot.
public struct LiveSnapshot<Element: Sendable>: Sendable {
    /// The records, sorted and limited by the query.
    public let records: [Element]
    /// Where the records come from.
    public let source: ResultSource
    /// The number of records in the whole result, beyond the limit too, with the queued writes applied; nil if the server does not report it.
    public let total: Int?
    /// Whether ``total`` may be off, because an event concerned a record beyond the known part of the result.
    public let isTotalEstimated: Bool
    let versions: [Int]
    let knownStates: [Int: RecordState]
    let difference: LiveDifference

    /// The states of the records, in the order of ``records``.
    public var states: [RecordState] {
        knownStates.isEmpty ? versions.map { _ in .confirmed } : versions.map { knownStates[$0] ?? .confirmed }
    }

    /// Whether any of the records has a write that the server has not confirmed.
    public var hasPendingWrites: Bool { !knownStates.isEmpty && versions.contains { knownStates[$0] != nil } }

    /// The changes since the previous snapshot. In the first snapshot, every record is an insertion.
    public var changes: LiveChanges { LiveChanges(difference) }
}

/// How true a record of a live query is.
public enum RecordState: Sendable, Equatable {
    /// The record is as the server last reported it.
    case confirmed
    /// A queued write is applied to the record, and the server has not responded yet.
    case pending
    /// A queued write to the record needs a decision: see ``Outbox/decide(_:for:)``.
    ///
    /// A refused write is no longer applied, except that a record it would create stays visible. A write with an unknown outcome stays applied.
    case failed(OutboxFailure)
}

/// Where the records of a live query come from.
public enum ResultSource: Sendable, Hashable {
    /// From this device: the last result of the server, received at this time. If there is none, the date is `.distantPast`, and the records are those of
    /// queued writes only.
    case kept(since: Date)
    /// From the server.
    case server
}

/// The key of a record, see ``LiveQueryPlan/key(of:)``, and the version that was shown.
struct LiveMark: Hashable, Sendable {
    let key: String
    let version: Int
}

/// The only range in which two snapshots differ.
struct LiveDifference: Sendable, Equatable {
    var offset = 0
    var old: [LiveMark] = []
    var new: [LiveMark] = []

    var isEmpty: Bool { old.isEmpty && new.isEmpty }
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
    /// The indices of the records whose properties changed, in ascending order. These records may also have moved.
    public private(set) var updates: [Int] = []

    init(_ difference: LiveDifference) {
        let (old, new, offset) = (difference.old, difference.new, difference.offset)
        for change in new.map(\.key).difference(from: old.map(\.key)).inferringMoves() {
            switch change {
            case .remove(let index, _, nil): removals.append(offset + index)
            case .insert(let index, _, let origin?): moves.append(Move(from: offset + origin, to: offset + index))
            case .insert(let index, _, nil): insertions.append(offset + index)
            case .remove: break
            }
        }
        removals.sort()
        let versions = Dictionary(old.map { ($0.key, $0.version) }) { first, _ in first }
        updates = new.indices.filter { index in versions[new[index].key].map { $0 != new[index].version } ?? false }.map { $0 + offset }
    }
}

/// The elements that are shown, with the version of the record that each one was made from.
///
/// Compares only the range between the first and the last difference. Most changes concern a single record: the others are neither decoded nor looked
/// up again.
struct LiveElements<Record: Sendable>: Sendable {
    private(set) var elements: [Record] = []
    /// The versions of the records; nil before the first result.
    private(set) var versions: [Int]?
    private(set) var keys: [String] = []

    /// Makes elements from the records to show.
    /// - Parameters:
    ///   - entries: The records to show.
    ///   - aliases: The keys under which records were shown before.
    ///   - make: Makes an element.
    /// - Returns: The range that differs from the previous elements; nil if nothing differs.
    /// - Throws: The error of `make`. In that case, nothing changes.
    mutating func show(
        _ entries: ArraySlice<LiveWindow.Entry>, aliases: [String: String] = [:], _ make: (LiveWindow.Entry) throws -> Record
    ) throws -> LiveDifference? {
        let isFirst = versions == nil
        let old = versions ?? []
        // Versions are unique across records, so comparing them is enough.
        let common = min(old.count, entries.count)
        let (before, behind) =
            entries.withContiguousStorageIfAvailable { new in
                old.withUnsafeBufferPointer { old in
                    var before = 0
                    while before < common, old[before] == new[before].version { before += 1 }
                    var behind = 0
                    while behind < common - before, old[old.count - 1 - behind] == new[new.count - 1 - behind].version { behind += 1 }
                    return (before, behind)
                }
            } ?? (0, 0)
        if !isFirst, before == old.count, before == entries.count { return nil }

        let gone = before..<old.count - behind
        let start = entries.startIndex
        let new = entries[(start + before)..<(start + entries.count - behind)]
        var known: [Int: Record] = [:]
        for index in gone { known[old[index]] = elements[index] }
        let made = try new.map { try known[$0.version] ?? make($0) }
        let newKeys = new.map { aliases[$0.key] ?? $0.key }
        let difference = LiveDifference(
            offset: before, old: gone.map { LiveMark(key: keys[$0], version: old[$0]) },
            new: zip(newKeys, new).map { LiveMark(key: $0, version: $1.version) })
        elements.replaceSubrange(gone, with: made)
        keys.replaceSubrange(gone, with: newKeys)
        var versions = old
        self.versions = nil
        versions.replaceSubrange(gone, with: new.map(\.version))
        self.versions = versions
        return difference
    }
}
