import FeathersCore

/// The related records of a snapshot, by the names of the relations.
struct RelatedRecords: Sendable {
    var groups: [String: any RelatedGroups] = [:]

    /// Whether any of them have changed since the previous snapshot.
    var hasChanged: Bool { groups.values.contains { $0.hasChanged } }

    /// Returns whether those of a row have changed since the previous snapshot.
    func hasChanged(_ row: ResultRow) -> Bool { groups.values.contains { $0.hasChanged && $0.hasChanged(row) } }

    func value<Model, Value>(of relation: Relation<Model, Value>, in row: ResultRow) -> Value? {
        groups[relation.signature].map { relation.value($0, row) }
    }

    func isLoaded(_ name: String, in row: ResultRow?) -> Bool {
        guard let row, let groups = groups[name] else { return false }
        return groups.isLoaded(row)
    }

    func failure(_ name: String, in row: ResultRow?) -> FeathersError? {
        guard let row, let groups = groups[name] else { return nil }
        return groups.failure(of: row)
    }

    /// The versions of the records that belong to a row, in an order of their own.
    func versions(in row: ResultRow) -> [Int] {
        groups.sorted { $0.key < $1.key }.flatMap { $0.value.versions(in: row) + [-1] }
    }
}

/// The related records of one relation.
protocol RelatedGroups: Sendable {
    var hasChanged: Bool { get }
    func hasChanged(_ row: ResultRow) -> Bool
    func isLoaded(_ row: ResultRow) -> Bool
    func failure(of row: ResultRow) -> FeathersError?
    func versions(in row: ResultRow) -> [Int]
}

/// The related records of one relation, by their keys.
struct RelatedRows<Related: Codable & Sendable>: RelatedGroups {
    let plan: RelationPlan<Related>
    /// The rows of each key, in the order of the relation.
    var groups: [String: ResultRows] = [:]
    /// The records that the server has embedded, by the keys of the records in which it has.
    var embedded: [String: LiveRow<Related>] = [:]
    /// The rows of the last snapshot, which make the public rows of the others too.
    var list: LiveList<LiveRow<Related>> = []
    /// Whether the records were read for the present user.
    var isRead = false
    /// The keys whose records are missing.
    var missing = MissingRecords()
    /// The keys that are not requested, because the list has too many.
    var waiting: Set<String> = []
    /// The keys whose records have changed since the previous snapshot.
    var changed: Set<String> = []
    /// The related records of these.
    var related: RelatedRecords?
    /// Whether all this has been read since the previous snapshot, so that `related` says what is new.
    var isNews = false

    func rows(of row: ResultRow) -> [LiveRow<Related>] {
        if let record = embedded[row.key] { return [record] }
        return all(of: row).map(list.element)
    }

    private func all(of row: ResultRow) -> [ResultRow] {
        plan.keys(of: row).flatMap { key in RelatedKeys.text(key).flatMap { groups[$0] }.map(Array.init) ?? [] }
    }

    private func hasKey(of row: ResultRow, in keys: Set<String>) -> Bool {
        plan.keys(of: row).contains { RelatedKeys.text($0).map(keys.contains) ?? false }
    }

    var hasChanged: Bool { !changed.isEmpty || isNews && related?.hasChanged ?? false }

    func hasChanged(_ row: ResultRow) -> Bool {
        if hasKey(of: row, in: changed) { return true }
        guard isNews, let related, related.hasChanged else { return false }
        return all(of: row).contains(where: related.hasChanged)
    }

    func isLoaded(_ row: ResultRow) -> Bool {
        if embedded[row.key] != nil { return true }
        let keys = plan.keys(of: row).compactMap { RelatedKeys.text($0) }
        if keys.isEmpty { return true }
        guard isRead, !plan.hasMoreKeys(row) else { return false }
        if missing.unfetched.isEmpty, missing.leftOut.isEmpty, waiting.isEmpty { return true }
        return keys.allSatisfy { key in
            let isFound = groups[key] != nil
            return (isFound || !missing.unfetched.contains(key)) && !waiting.contains(key)
                && (isFound && plan.isUnique || !missing.leftOut.contains(key))
        }
    }

    func failure(of row: ResultRow) -> FeathersError? { isLoaded(row) ? nil : missing.failure }

    func versions(in row: ResultRow) -> [Int] {
        [isLoaded(row) ? 1 : missing.failure == nil ? 0 : -2]
            + all(of: row).flatMap { [$0.version] + (related?.versions(in: $0) ?? []) }
    }
}
