public import FeathersCore

/// What one request for each record reads of its related records.
enum RelationPart: Sendable {
    /// The last ones in the order of the relation, the last one first.
    case latest(Int)
    /// Their number, from one request for each record, or from one call of the app's function for all of them.
    case count(CountFunction?)
}

typealias CountFunction = @Sendable (FeathersApp, [ServiceID]) async throws -> [ServiceID: Int]

extension Relation {
    /// Returns a relation to the latest related records of each record, the newest one first.
    ///
    /// ```swift
    /// let live = channels.live().including(Channel.messages.latest(1).including(Message.author))
    /// for row in snapshot { show(row.name, last: row[Channel.messages.latest(1)].first?.text) }
    /// ```
    ///
    /// The latest records have the greatest values of the property by which the relation sorts, in either direction;
    /// without a `$sort`, the greatest ids. Declare the relation with an order that tells their age.
    ///
    /// A FeathersJS server cannot group, so each row that is shown takes one `find` with a `$limit`, six requests at a
    /// time for all relations of the list, and at most ``RelationLimits/maximumSingleReads`` rows. Afterward, each row's
    /// records are a live query of their own: events and queued writes change them, and they are stored with the list.
    /// - Parameter count: The maximum number of related records of each record, at least 1. Only a relation by a property
    ///   of the related records has latest ones; others are refused when the query is read.
    public func latest<Related: Codable & Sendable>(_ count: Int) -> Relation where Value == [LiveRow<Related>] {
        guard let plan = (plan as? RelationPlan<Related>)?.reading(.latest(Swift.max(count, 1))) else { return self }
        return Relation(signature: plan.name, plan: plan, value: value, none: none)
    }

    /// Returns a relation to the number of related records of each record; nil until it is known.
    ///
    /// ```swift
    /// extension Channel {
    ///     static let unread = messages.count(where: .where(.isRead, false))
    /// }
    /// for row in snapshot { show(row.name, unread: row[Channel.unread] ?? 0) }
    /// ```
    ///
    /// A FeathersJS server cannot group, so each row that is shown takes one `find` with a `$limit` of 0, as a live count
    /// does, six requests at a time for all relations of the list, and at most ``RelationLimits/maximumSingleReads``
    /// rows. Events of records whose former state is known, as of created and removed ones, change a count at once.
    /// After other events, and after the first event that follows a fetch, the counts that may have changed are
    /// requested again, a quarter of a second later: if a changed record is not known, those of all rows. Queued writes
    /// count as they show. At rest, a count is the `total` of `find`.
    ///
    /// If your server can count for many records at once, for example with a custom method, pass a function that asks it.
    /// It is called once for all rows that need a count:
    ///
    /// ```swift
    /// static let unread = messages.count(where: .where(.isRead, false)) { app, channels in
    ///     try await app.service(.messages).unreadCounts(of: channels)
    /// }
    /// ```
    ///
    /// A service without pagination reports no `total`; ``LiveRow/relatedFailure(_:)`` then says so.
    /// - Parameters:
    ///   - conditions: More conditions on the related records. `$sort`, `$limit`, `$skip` and `$select` have no effect.
    ///   - counts: Returns the numbers of related records that meet the conditions, by the ids of the records. An id that
    ///     it leaves out has none. Its errors are treated as those of `find`.
    public func count<Related: Codable & Sendable>(
        where conditions: Query<Related> = Query(),
        by counts: (@Sendable (_ app: FeathersApp, _ ids: [ServiceID]) async throws -> [ServiceID: Int])? = nil
    ) -> Relation<Model, Int?> where Value == [LiveRow<Related>] {
        guard var plan = (plan as? RelationPlan<Related>)?.reading(.count(counts)) else {
            preconditionFailure("A relation to many records has a plan for their model")
        }
        plan.conditions = conditions
        let value: @Sendable (any RelatedGroups, ResultRow) -> Int? = { groups, row in
            // A queued record has two keys: its provisional id as text and as a number.
            let counts = (groups as? RelatedRows<JSONValue>)?.rows(of: row).compactMap { $0.record.relatedCount } ?? []
            return counts.isEmpty ? nil : counts.reduce(0, +)
        }
        return Relation<Model, Int?>(signature: plan.name, plan: plan, value: value, none: nil)
    }
}

extension RelationPlan {
    fileprivate func reading(_ part: RelationPart) -> RelationPlan {
        var plan = self
        plan.part = part
        return plan
    }

    /// The same relation to records that say the numbers of related ones.
    var counting: RelationPlan<JSONValue> {
        var plan = RelationPlan<JSONValue>(path: path, id: id, kind: kind, query: Query(), embedded: nil)
        (plan.part, plan.ownerID, plan.maximumKeys) = (part, ownerID, maximumKeys)
        return plan
    }
}

extension JSONValue {
    private static var countName: String { "count" }

    /// Creates the record that says the number of a key's related records.
    init(relatedCount count: Int, of key: JSONValue, in property: String) {
        self = .object([property: key, Self.countName: .integer(Int64(count))])
    }

    fileprivate var relatedCount: Int? { self[Self.countName]?.integer.map { Int($0) } }
}

extension Query<JSONValue> {
    /// The query for the last records in its order, the last one first: those with the greatest values of the property
    /// by which it sorts first.
    func latest(_ count: Int, id: String) -> Query {
        let sort = json["$sort"]?.object ?? [:]
        let isDescending = sort.first?.value.isDescending ?? false
        var latest = self
        latest.json["$sort"] = .object(
            JSONObject(sort.map { ($0.key, .integer($0.value.isDescending == isDescending ? -1 : 1)) }))
        return (sort[id] == nil ? latest.sorted(by: id, .descending) : latest).limit(count)
    }
}
