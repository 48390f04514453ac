// Locks: Values without a lock.

public import FeathersCore
public import Foundation

/// A row of a live query: a record and what the app is doing to it.
///
/// You can read the record's properties from the row itself: `row.text` is `row.record.text`.
@dynamicMemberLookup
public struct LiveRow<Record: Sendable>: Sendable, Identifiable {
    /// The id of the row, as text. It stays the same when the server assigns an id to a record that the app creates, so
    /// that a list view keeps its selection.
    ///
    /// An id that isn't in Unicode's composed form (NFC) is written otherwise here, because Swift takes the two forms
    /// for equal. Use the record's own id in calls.
    public let id: String
    /// The record, with queued writes applied.
    public let record: Record
    /// Whether the server has confirmed the record.
    public let state: RecordState
    /// The last queued write to the record, for ``Outbox/decide(_:for:)`` and ``Outbox/result(of:)``; nil if there is
    /// none.
    public let write: OutboxWrite.ID?
    /// The related records, and the row to which they belong.
    let relatedSource: (records: RelatedRecords, row: ResultRow)?
    /// Receives the relations that the query does not include.
    let unknown: UnknownRelations?

    init(
        id: String, record: Record, state: RecordState, write: OutboxWrite.ID?,
        related: (records: RelatedRecords, row: ResultRow)? = nil, unknown: UnknownRelations? = nil
    ) {
        (self.id, self.record, self.state, self.write) = (id, record, state, write)
        (self.relatedSource, self.unknown) = (related, unknown)
    }

    /// A property of the record.
    public subscript<Value>(dynamicMember path: KeyPath<Record, Value>) -> Value { record[keyPath: path] }
}

extension LiveRow {
    /// Returns the related records: a row or nil for a relation to one record, and rows for a relation to many.
    ///
    /// A record is nil, or left out, if it does not exist, if the user may not see it, and until it is fetched.
    /// - Parameter relation: A relation that the query includes; see ``LiveQuery/including(_:)``. Any other one has no
    ///   records, and the app's diagnostics have a warning that names it.
    public subscript<Value>(relation: Relation<Record, Value>) -> Value {
        if let relatedSource, let value = relatedSource.records.value(of: relation, in: relatedSource.row) {
            return value
        }
        unknown?.report(relation.signature)
        return relation.none
    }

    /// Returns whether the records of a relation have been fetched, or found on this device.
    ///
    /// It is false while something is missing: before the first response, while the service fails, if a limit of
    /// ``RelationLimits`` left something out, or if a record cannot be decoded.
    /// - Parameter relation: A relation that the query includes.
    public func hasLoaded<Value>(_ relation: Relation<Record, Value>) -> Bool {
        relatedSource?.records.isLoaded(relation.signature, in: relatedSource?.row) ?? false
    }
}

extension LiveRow {
    /// Returns why the records of a relation are missing at present; nil if they have loaded, or are on their way.
    ///
    /// A failed fetch is repeated, with pauses of up to 30 seconds. After ``FeathersError/Code/forbidden``, the next
    /// fetch follows the next sign-in.
    /// - Parameter relation: A relation that the query includes.
    public func relatedFailure<Value>(_ relation: Relation<Record, Value>) -> FeathersError? {
        relatedSource?.records.failure(relation.signature, in: relatedSource?.row)
    }
}

extension LiveRow: Equatable where Record: Equatable {
    public static func == (left: LiveRow, right: LiveRow) -> Bool {
        left.id == right.id && left.record == right.record && left.state == right.state && left.write == right.write
            && left.relatedVersions == right.relatedVersions
    }

    private var relatedVersions: [Int] { relatedSource.map { $0.records.versions(in: $0.row) } ?? [] }
}
