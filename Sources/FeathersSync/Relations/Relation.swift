public import FeathersCore

/// A relation from the records of one service to those of another, by a property that holds an id.
///
/// ```swift
/// extension Message {
///     static let author = relation(to: User.self, at: "users", by: .authorID)
///     static let reactions = relation(
///         toMany: Reaction.self, at: "reactions", by: .messageID)
/// }
///
/// let live = messages.live(.sorted(by: .createdAt))
///     .including(Message.author, Message.reactions)
/// for try await snapshot in live.snapshots {
///     for row in snapshot {
///         show(row.text, by: row[Message.author]?.name, row[Message.reactions])
///     }
/// }
/// ```
///
/// A relation has one service and one model. For a property that refers to records of different services, declare one
/// relation for each of them, or let the server embed the records.
public struct Relation<Model: Sendable, Value: Sendable>: Sendable {
    /// Identifies the relation: the service and the property, and the query if there is one.
    let signature: String
    let plan: any AnyRelation
    let value: @Sendable (any RelatedGroups, ResultRow) -> Value
    /// The value without any records.
    let none: Value
}

/// A relation to one record: see ``Relation``.
public typealias ToOne<Model: Sendable, Related: Sendable> = Relation<Model, LiveRow<Related>?>

/// A relation to several records: see ``Relation``.
public typealias ToMany<Model: Sendable, Related: Sendable> = Relation<Model, [LiveRow<Related>]>

extension Queryable {
    /// Returns a relation to one record, whose id is in a property of this model.
    /// - Parameters:
    ///   - related: The model of the related records.
    ///   - path: The path of their service.
    ///   - key: The property of this model that holds the related record's id.
    ///   - id: The name of the related records' id property.
    ///   - embedded: The name of the property in which the server may embed the related record. An object there, or in
    ///     place of the id, is used as it is.
    ///   - rootKeys: The keys that lead to the related records in results of their service, if the server wraps them.
    ///     By default, those with which the app has last read the service's records as this model.
    ///   - coding: The codec between the related models and JSON. By default, that with which the app has last read the
    ///     service's records as this model, or the app's.
    public static func relation<Related: Codable & Sendable>(
        to related: Related.Type, at path: String, by key: QueryKeys, id: String = "id", embedded: String? = nil,
        rootKeys: [RootKey] = [], coding: (any JSONCodec)? = nil
    ) -> ToOne<Self, Related> {
        let plan = RelationPlan<Related>(
            path: path, id: id, kind: .toOne(key.stringValue), query: Query(), embedded: embedded, rootKeys: rootKeys,
            coding: coding)
        return Relation(plan) { $0.first }
    }

    /// Returns a relation to the records whose ids are in an array in a property of this model, in that order.
    /// - Parameters:
    ///   - related: The model of the related records.
    ///   - path: The path of their service.
    ///   - keys: The property of this model that holds an array of ids.
    ///   - id: The name of the related records' id property.
    ///   - rootKeys: The keys that lead to the related records in results of their service, if the server wraps them.
    ///     By default, those with which the app has last read the service's records as this model.
    ///   - coding: The codec between the related models and JSON. By default, that with which the app has last read the
    ///     service's records as this model, or the app's.
    public static func relation<Related: Codable & Sendable>(
        toMany related: Related.Type, at path: String, byAll keys: QueryKeys, id: String = "id",
        rootKeys: [RootKey] = [], coding: (any JSONCodec)? = nil
    ) -> ToMany<Self, Related> {
        let plan = RelationPlan<Related>(
            path: path, id: id, kind: .toSome(keys.stringValue), query: Query(), embedded: nil, rootKeys: rootKeys,
            coding: coding)
        return Relation(plan) { $0 }
    }

    /// Returns a relation to all records that have this record's id in a property.
    /// - Parameters:
    ///   - related: The model of the related records.
    ///   - path: The path of their service.
    ///   - key: The property of the related model that holds this record's id.
    ///   - query: More conditions, and the order of the records; otherwise, they are sorted by their ids. A `$limit`,
    ///     `$skip` or `$select` is refused when the query is read, because one request brings the records of many.
    ///   - id: The name of the related records' id property.
    ///   - rootKeys: The keys that lead to the related records in results of their service, if the server wraps them.
    ///     By default, those with which the app has last read the service's records as this model.
    ///   - coding: The codec between the related models and JSON. By default, that with which the app has last read the
    ///     service's records as this model, or the app's.
    public static func relation<Related: Codable & Queryable>(
        toMany related: Related.Type, at path: String, by key: Related.QueryKeys, _ query: Query<Related> = Query(),
        id: String = "id", rootKeys: [RootKey] = [], coding: (any JSONCodec)? = nil
    ) -> ToMany<Self, Related> {
        let plan = RelationPlan<Related>(
            path: path, id: id, kind: .toMany(key.stringValue), query: query, embedded: nil, rootKeys: rootKeys,
            coding: coding)
        return Relation(plan) { $0 }
    }
}

extension Relation {
    fileprivate init<Related>(_ plan: RelationPlan<Related>, _ value: @escaping @Sendable ([LiveRow<Related>]) -> Value)
    {
        self.init(
            signature: plan.name, plan: plan, value: { value(($0 as? RelatedRows<Related>)?.rows(of: $1) ?? []) },
            none: value([]))
    }

    /// Returns the relation with relations of the related records: `Message.author.including(User.team)`.
    ///
    /// Relations can be nested as deeply as you write them. The records of each level are fetched after those of the
    /// level before.
    public func including<Related, each Other: Sendable>(
        _ relations: repeat Relation<Related, each Other>
    ) -> Relation where Value == LiveRow<Related>? {
        var plans: [any AnyRelation] = []
        repeat plans.append((each relations).plan)
        return Relation(signature: signature, plan: plan.including(plans), value: value, none: none)
    }

    /// Returns the relation with relations of the related records: `Message.reactions.including(Reaction.author)`.
    public func including<Related, each Other: Sendable>(
        _ relations: repeat Relation<Related, each Other>
    ) -> Relation where Value == [LiveRow<Related>] {
        var plans: [any AnyRelation] = []
        repeat plans.append((each relations).plan)
        return Relation(signature: signature, plan: plan.including(plans), value: value, none: none)
    }
}

extension LiveQuery {
    /// Returns the same query with related records, which its snapshots have for each row.
    ///
    /// ```swift
    /// let live = messages.live().including(
    ///     Message.author.including(User.team), Message.reactions)
    /// ```
    ///
    /// The first snapshot waits until the related records have been fetched, or cannot be, but at most two seconds. Later
    /// ones do not wait: the related records of a new row join it when they arrive. A row changes with the records that
    /// it shows, whether events, writes of this app or fetches change them. The related records are stored with the
    /// result in the app's ``LocalStore``.
    ///
    /// Missing records are fetched with `$in`, up to 50 keys in a request, over REST no more than the transport's
    /// `arrayLimit`, and six requests at a time. A record that another live query of its service shows is not fetched
    /// again. If the related service fails, the rows stay, and ``LiveRow/relatedFailure(_:)`` says why records are
    /// missing. ``RelationLimits`` bound what is read.
    public func including<each Value: Sendable>(_ relations: repeat Relation<Element, each Value>) -> LiveQuery {
        var query = self
        repeat query.source.relations.append((each relations).plan)
        return query
    }
}
