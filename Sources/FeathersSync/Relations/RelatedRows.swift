import FeathersCore

/// The related records of a snapshot, by the names of the relations.
struct RelatedRecords: Sendable {
    var groups: [String: any RelatedGroups] = [:]

    /// Whether any of them have changed since the previous snapshot.
    var hasChanged: Bool { groups.values.contains { $0.hasChanged } }

    /// Returns whether those of a row have changed since the previous snapshot.
    func hasChanged(_ row: ResultRow) -> Bool { groups.values.contains { $0.hasChanged && $0.hasChanged(row) } }

    func value<Model, Value>(of relation: Relation<Model, Value>, in row: ResultRow) -> Value? {
        groups[relation.name].map { relation.value($0, row) }
    }

    func isLoaded(_ name: String, in row: ResultRow?) -> Bool {
        guard let row, let groups = groups[name] else { return false }
        return groups.isLoaded(row)
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
    /// The keys whose records have not been fetched.
    var missing: Set<String> = []
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
        if missing.isEmpty || embedded[row.key] != nil { return true }
        return plan.keys(of: row).allSatisfy { key in
            RelatedKeys.text(key).map { !missing.contains($0) || groups[$0] != nil } ?? true
        }
    }

    func versions(in row: ResultRow) -> [Int] {
        [isLoaded(row) ? 1 : 0] + all(of: row).flatMap { [$0.version] + (related?.versions(in: $0) ?? []) }
    }
}
