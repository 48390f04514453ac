public import FeathersCore
import FeathersSupport

extension LiveQuery {
    /// Returns the same query with a condition on a related record: those records whose related one meets a query.
    ///
    /// ```swift
    /// let ours = cards.live(.sorted(by: .title)).where(Card.board, .where(.teamID, team.id))
    /// ```
    ///
    /// A FeathersJS server cannot join, so this takes two steps: the related records that meet the query are read and
    /// followed, then the records with one of their ids (`$in`). When the related records change, so do the records.
    /// More than 1,000 related records are refused, because a request has room for so many ids at most; over REST, the
    /// transport's `arrayLimit` may allow fewer. If you need more, or if the condition matches most of the records, let
    /// a hook of the server do it.
    ///
    /// Records whose related record is queued and not created yet are not part of the result. Reading the first snapshot
    /// throws ``FeathersError/Code/badRequest`` if there are too many related records, and the errors of their service.
    /// - Parameters:
    ///   - relation: A relation to one record.
    ///   - query: The conditions on the related record.
    public func `where`<Related: Codable & Sendable>(
        _ relation: Relation<Element, LiveRow<Related>?>, _ query: Query<Related>
    ) -> LiveQuery {
        var live = self
        guard let plan = relation.plan as? RelationPlan<Related> else {
            // Conditions are never lost.
            live.source.refusal = FeathersError(
                .badRequest, "The relation has other records than the condition", execution: .neverSent)
            return live
        }
        live.source.conditions.append(RelatedCondition(plan: plan, query: query))
        return live
    }
}

/// A condition on the record to which a property refers.
struct RelatedCondition<Related: Codable & Sendable>: LiveCondition {
    /// The most related records that may meet the condition.
    static var maximum: Int { 1_000 }

    let plan: RelationPlan<Related>
    let query: Query<Related>

    func reader(
        of source: LiveSource<some Sendable>, _ wake: AsyncStream<Void>.Continuation
    ) -> any LiveConditionReading {
        var related = plan.source(of: source).ofRecords
        (related.control, related.relations, related.relation) = (LiveControl(), [], nil)
        let codec = plan.service(in: related.service.app).codec(for: related.params)
        do {
            related.query = try query.written(for: codec).counting
            related.query.json["$limit"] = .integer(Int64(Self.maximum + 1))
            related.query = related.query.sorted(by: plan.id)
        } catch { related.refusal = related.refusal ?? error }
        guard case .toOne(let property) = plan.kind else { preconditionFailure("The relation is one to one record") }
        return RelatedConditionReader(
            related, property: source.keyFormat.key(of: property), name: plan.name, maximum: Self.maximum, wake)
    }
}

/// Reads the ids of the related records that meet a condition.
private struct RelatedConditionReader: LiveConditionReading {
    private let source: LiveSource<JSONValue>
    private let property: String
    private let name: String
    private let maximum: Int
    private var reader: LiveSnapshotReader<JSONValue>
    private var state = LiveConditionState.unknown

    init(
        _ source: LiveSource<JSONValue>, property: String, name: String, maximum: Int,
        _ wake: AsyncStream<Void>.Continuation
    ) {
        (self.source, self.property, self.name, self.maximum) = (source, property, name, maximum)
        reader = LiveSnapshotReader(source, wake)
    }

    mutating func close() { reader.close() }

    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> LiveConditionState {
        guard var snapshot = try await reader.poll(isolation: actor) else { return state }
        if snapshot.count <= maximum, snapshot.hasMore, try await grow(),
            let whole = try await reader.poll(isolation: actor)
        {
            snapshot = whole
        }
        guard let sender = reader.sender, sender.isCurrent else {
            state = .unknown
            return state
        }
        if snapshot.count > maximum {
            throw FeathersError(
                .badRequest,
                "More than \(maximum) records meet the condition on the relation \(name): narrow it, or let a hook of "
                    + "the server apply it", execution: .neverSent)
        }
        // A part of the ids would be another condition.
        if snapshot.hasMore, snapshot.source == .server { return state }
        let ids = snapshot.rows.resultRows.filter { !$0.isProvisional }.compactMap { $0.record[source.id] }
        state = ids.isEmpty ? .nothing(sender) : .query(Query().where(property, .isIn(ids)), sender)
        return state
    }

    /// Reads the records that a page of the server has left out.
    /// - Returns: Whether they were read. They are in the next snapshot.
    private func grow() async throws -> Bool {
        do {
            try await LiveQuery(source: source).loadMore(maximum + 1)
            return true
        } catch let error as FeathersError where error.saysUnreachable || error.code == .notAuthenticated {
            return false
        }
    }
}
