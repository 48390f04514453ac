extension MemoryService {
    /// Lists the records that match the query: a page `{total, limit, skip, data}` where the service pages its lists,
    /// otherwise an array.
    ///
    /// Without `$sort` records come in FeathersJS' order: whole-number ids ascending, then the others as they were added.
    /// A negative `$skip` counts as none.
    public func find(_ params: Params) async throws -> JSONValue {
        let query = try MemoryQuery(params.query, options)
        let sorter = try QuerySorter(params.query)
        let skip = params.query.json["$skip"].flatMap { ParsedInteger($0).value }.flatMap { $0 > 0 ? $0 : nil } ?? 0
        let requestedLimit = params.query.json["$limit"]

        if let pagination = options.pagination {
            let limit = pagination.limit(for: requestedLimit)
            let (total, records) = list(query, sorter, skip: skip, limit: limit, countingAll: true)
            return [
                "total": .integer(Int64(total)),
                "limit": .integer(Int64(limit)),
                "skip": .integer(Int64(skip)),
                "data": .array(records),
            ]
        }
        let limit = requestedLimit.flatMap { ParsedInteger($0).value }.flatMap { $0 >= 0 ? $0 : nil }
        return .array(list(query, sorter, skip: skip, limit: limit ?? .max, countingAll: false).records)
    }

    /// - Parameter countingAll: Whether the total is asked for, so that listing cannot stop at the limit.
    private func list(
        _ query: MemoryQuery, _ sorter: QuerySorter?, skip: Int, limit: Int, countingAll: Bool
    ) -> (total: Int, records: [JSONValue]) {
        if limit == 0, !countingAll { return (0, []) }
        var total = 0
        var found: [JSONValue] = []
        let mayStop = sorter == nil && !countingAll
        store.visit { _, record in
            guard query.matcher.matches(record) else { return true }
            total += 1
            if sorter != nil {
                found.append(record)
            } else if total > skip, found.count < limit {
                found.append(record)
            }
            return !mayStop || found.count < limit
        }
        if let sorter { found = Array(sorter.sorted(found).dropFirst(skip).prefix(limit)) }
        return (total, found.map(query.select))
    }
}
