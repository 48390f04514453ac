import FeathersCore
import FeathersSupport

/// How to find the related records of a record.
struct RelationPlan<Related: Codable & Sendable>: Sendable {
    enum Kind: Sendable, Hashable {
        /// A property holds the id of the related record.
        case toOne(String)
        /// A property holds an array of their ids.
        case toSome(String)
        /// A property of the related records holds this record's id.
        case toMany(String)
    }

    let path: String
    /// The name of the related records' id property.
    let id: String
    let kind: Kind
    let query: Query<Related>
    /// The property in which the server may embed the related record.
    let embedded: String?
    /// The name of the id property of the records that have the related ones.
    var ownerID = "id"
    var relations: [any AnyRelation] = []

    var name: String {
        let (property, arrow) =
            switch kind {
            case .toOne(let property), .toSome(let property): (property, "to")
            case .toMany(let property): (property, "from")
            }
        let json = (try? query.written(for: CodingOptions()))?.json ?? [:]
        let conditions = json.isEmpty ? "" : " \(JSONValue.object(json))"
        return "'\(property)' \(arrow) '\(path)'\(conditions)"
    }

    /// The property of the related records that holds the key.
    var property: String { if case .toMany(let property) = kind { property } else { id } }

    var selected: String? {
        switch kind {
        case .toOne(let property), .toSome(let property): property
        case .toMany: nil
        }
    }

    /// Returns the keys of a row's related records.
    func keys(of row: ResultRow) -> [JSONValue] {
        switch kind {
        case .toOne(let property): [row.record[property]].compactMap { RelatedKeys.text($0) == nil ? .none : $0 }
        case .toSome(let property): row.record[property]?.array?.filter { RelatedKeys.text($0) != nil } ?? []
        // Queued writes refer to a record that is queued too by its text, or by its number.
        case .toMany where row.isProvisional: JSONValue.provisionalForms(of: row.key)
        case .toMany: [row.record[ownerID] ?? .string(row.key)]
        }
    }

    /// Returns the record that the server has embedded in a record, if any.
    func embedded(in record: JSONValue) -> JSONValue? {
        guard case .toOne(let property) = kind else { return nil }
        return [embedded, property].lazy.compactMap { $0.flatMap { record[$0] } }.first { $0.object != nil }
    }

    /// Returns the query for the related records of a query's result.
    func source(of owner: LiveSource<some Sendable>) -> LiveSource<Related> {
        var params = owner.params
        (params.query, params.route) = (Query(), [:])
        let service = owner.service.app.service(path, of: Related.self).identified(by: id)
        var source = service.ownLive(query, params: params, writes: owner.writes, stores: owner.stores).source
        if source.query.json["$sort"] == nil { source.query = source.query.sorted(by: id) }
        if let first = ["$limit", "$skip", "$select"].first(where: { source.query.json[$0] != nil }) {
            source.refusal = FeathersError(
                .badRequest,
                "The relation \(name) cannot have a '\(first)', because one request brings the records of many",
                execution: .neverSent)
        }
        (source.relations, source.control, source.clock) = (relations, owner.control, owner.clock)
        source.relation = RelationSource(property: property, owner: owner.keptText.map { "\(name) of \($0)" })
        return source
    }
}

/// Which records a live query reads as those of a relation.
struct RelationSource: Sendable {
    /// The property that holds the keys.
    let property: String
    /// Tells the stored related records of one relation and query from those of others; nil if they are not stored.
    let owner: String?
}

/// A relation to records of any model.
protocol AnyRelation: Sendable {
    var name: String { get }
    /// The property that a query for the records themselves must select; nil if their id is enough.
    var selected: String? { get }

    func including(_ relations: [any AnyRelation]) -> any AnyRelation

    /// Returns what reads the related records of a query's result.
    func reader(of owner: LiveSource<some Sendable>, _ wake: AsyncStream<Void>.Continuation) -> any RelatedReading
}

extension RelationPlan: AnyRelation {
    func including(_ relations: [any AnyRelation]) -> any AnyRelation {
        var plan = self
        plan.relations += relations
        return plan
    }

    func reader(of owner: LiveSource<some Sendable>, _ wake: AsyncStream<Void>.Continuation) -> any RelatedReading {
        var plan = self
        plan.ownerID = owner.id
        return RelatedReader(plan, source(of: owner), wake)
    }
}
