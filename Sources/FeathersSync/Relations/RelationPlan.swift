import FeathersCore
import FeathersSupport

/// Which property holds the keys.
enum RelationKind: Sendable, Hashable {
    /// A property holds the id of the related record.
    case toOne(String)
    /// A property holds an array of their ids.
    case toSome(String)
    /// A property of the related records holds this record's id.
    case toMany(String)

    /// The property of this record that holds keys; nil if none does.
    var property: String? {
        switch self {
        case .toOne(let property), .toSome(let property): property
        case .toMany: nil
        }
    }
}

/// How to find the related records of a record.
struct RelationPlan<Related: Codable & Sendable>: Sendable {
    let path: String
    /// The name of the related records' id property.
    let id: String
    /// With names of properties as the models have them; a reader has those of the services.
    var kind: RelationKind
    let query: Query<Related>
    /// The property in which the server may embed the related record.
    let embedded: String?
    var rootKeys: [RootKey] = []
    var coding: (any JSONCodec)?
    /// The name of the id property of the records that have the related ones.
    var ownerID = "id"
    /// The maximum number of keys of one record whose related records are shown.
    var maximumKeys = Int.max
    var relations: [any AnyRelation] = []
    /// What is read of each record's related records; nil for all of them.
    var part: RelationPart?
    /// Further conditions of a part.
    var conditions = Query<Related>()

    var name: String {
        let (property, arrow) =
            switch kind {
            case .toOne(let property), .toSome(let property): (property, "to")
            case .toMany(let property): (property, "from")
            }
        func text(_ query: Query<Related>) -> String {
            let json = (try? query.written(for: CodingOptions()))?.json ?? [:]
            return json.isEmpty ? "" : " \(JSONValue.object(json))"
        }
        let what =
            switch part {
            case .latest(let count)?: ", the latest \(count)"
            case .count?: ", the number\(text(conditions))"
            case nil: ""
            }
        return "'\(property)' \(arrow) '\(path)'\(text(query))\(what)"
    }

    /// Whether at most one record has a key.
    var isUnique: Bool { if case .toMany = kind { false } else { true } }

    /// The property of the related records that holds the key.
    var property: String { if case .toMany(let property) = kind { property } else { id } }

    func selected(by owner: LiveSource<some Sendable>) -> String? {
        switch kind {
        case .toOne(let property), .toSome(let property): owner.keyFormat.key(of: property)
        case .toMany: nil
        }
    }

    /// Returns the relation with the names of properties as its services write them.
    private func written(_ owner: LiveSource<some Sendable>, _ related: LiveSource<Related>) -> RelationPlan {
        var plan = self
        switch kind {
        case .toOne(let property): plan.kind = .toOne(owner.keyFormat.key(of: property))
        case .toSome(let property): plan.kind = .toSome(owner.keyFormat.key(of: property))
        case .toMany(let property): plan.kind = .toMany(related.keyFormat.key(of: property))
        }
        return plan
    }

    /// Returns the keys of a row's related records.
    func keys(of row: ResultRow) -> [JSONValue] {
        switch kind {
        case .toOne(let property): [row.record[property]].compactMap { RelatedKeys.text($0) == nil ? .none : $0 }
        case .toSome(let property): Array(allKeys(of: row, in: property).prefix(maximumKeys))
        // Queued writes refer to a record that is queued too by its text, or by its number.
        case .toMany where row.isProvisional: JSONValue.provisionalForms(of: row.key)
        case .toMany: [row.record[ownerID] ?? .string(row.key)]
        }
    }

    private func allKeys(of row: ResultRow, in property: String) -> some Sequence<JSONValue> {
        (row.record[property]?.array ?? []).lazy.filter { RelatedKeys.text($0) != nil }
    }

    /// Returns whether a row has more keys than the related records of which are shown.
    func hasMoreKeys(_ row: ResultRow) -> Bool {
        guard case .toSome(let property) = kind, row.record[property]?.array?.count ?? 0 > maximumKeys else {
            return false
        }
        return allKeys(of: row, in: property).dropFirst(maximumKeys).contains { _ in true }
    }

    /// Returns why a row has no keys, if its property has a value of another kind than the relation expects.
    func misfit(_ row: ResultRow) -> String? {
        switch (kind, kind.property.flatMap { row.record[$0] }) {
        case (.toOne(let name), .array?): "'\(name)' has an array, so declare 'relation(toMany:at:byAll:)'"
        case (.toSome(let name), .string?), (.toSome(let name), .integer?):
            "'\(name)' has one id, so declare 'relation(to:at:by:)'"
        default: nil
        }
    }

    /// Returns the record that the server has embedded in a record, if any.
    func embedded(in record: JSONValue) -> JSONValue? {
        guard case .toOne(let property) = kind else { return nil }
        return [embedded, property].lazy.compactMap { $0.flatMap { record[$0] } }.first { $0.object != nil }
    }

    /// Returns the query for the related records of a query's result.
    /// The service of the related records, which reads them as the app does.
    func service(in app: FeathersApp) -> Service<Related> {
        app.service(path).referred(as: Related.self, rootKeys: rootKeys, coding: coding)
    }

    func source(of owner: LiveSource<some Sendable>) -> LiveSource<Related> {
        var params = owner.params
        params.query = Query()
        let placeholders = Set(path.split(separator: "/").filter { $0.hasPrefix(":") }.map { String($0.dropFirst()) })
        params.route = params.route.filter { placeholders.contains($0.key) }
        // One bad record does not take the others away. It is missing instead.
        params.skipsUndecodableRecords = true
        let service = service(in: owner.service.app).identified(by: id)
        var source = service.ownLive(query, params: params, stores: owner.stores).source
        if source.query.json["$sort"] == nil { source.query = source.query.sorted(by: id) }
        if let first = ["$limit", "$skip", "$select"].first(where: { source.query.json[$0] != nil }) {
            source.refusal = FeathersError(
                .badRequest,
                "The relation \(name) cannot have a '\(first)', because one request brings the records of many",
                execution: .neverSent)
        }
        (source.relations, source.control, source.clock) = (relations, owner.control, owner.clock)
        source.relation = RelationSource(
            property: written(owner, source).property, owner: owner.listText.map { "\(name) of \($0)" }, part: part)
        read(part, &source, service)
        return source
    }

    private func read(_ part: RelationPart?, _ source: inout LiveSource<Related>, _ service: Service<Related>) {
        switch part {
        case .latest(let count)?: source.query = source.query.latest(count, id: id)
        case .count?:
            let more = service.ownLive(conditions, params: source.params, stores: source.stores).source
            source.query = source.query.joined(with: more.query).counting
            source.refusal = source.refusal ?? more.refusal
        case nil: return
        }
        if case .toMany = kind { return }
        source.refusal = FeathersError(
            .badRequest, "The relation \(name) needs related records that have this record's id", execution: .neverSent)
    }
}

/// Which records a live query reads as those of a relation.
struct RelationSource: Sendable {
    /// The property that holds the keys.
    let property: String
    /// Tells the stored related records of one relation and query from those of others; nil if they are not stored.
    let owner: String?
    /// What is read of the records of each key, in a list of its own; nil for all of them, in one list.
    var part: RelationPart?
    /// Whether the server does not know the key of the list.
    var isUnsent = false
    /// What counts the records of the list's key, if the app has a function that does.
    var counted: (requests: CountRequests, key: ServiceID)?
}

/// A relation to records of any model.
protocol AnyRelation: Sendable {
    var name: String { get }
    /// The property that a query for the records themselves must select; nil if their id is enough.
    func selected(by owner: LiveSource<some Sendable>) -> String?

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
        let source = source(of: owner)
        var plan = written(owner, source)
        let limits = owner.service.app.relationLimits
        (plan.ownerID, plan.maximumKeys) = (owner.id, limits.maximumKeysPerRecord)
        guard case .count? = part else { return RelatedReader(plan, source, limits, wake) }
        return RelatedReader(plan.counting, source.ofRecords, limits, wake)
    }
}
