public import FeathersCore

extension Service {
    /// The current result of a query, kept right by the service's events.
    /// - Parameters:
    ///   - query: conditions, `$sort`, `$limit`, `$skip` and `$select` as for `find`. Sorted results are also sorted by id where they are
    ///     equal otherwise; with `$skip` most events need a fetch, since the records before are not known.
    ///   - params: what goes with every fetch: header fields, a timeout, your own values.
    ///   - id: the name of the records' id property, `_id` with MongoDB.
    ///   - clock: what pauses between attempts to fetch are measured on.
    public nonisolated func live(
        _ query: Query = Query(), params: Params = Params(), id: String = "id", clock: any Clock<Duration> = ContinuousClock()
    ) -> LiveQuery<JSONValue> {
        LiveQuery(source: LiveSource(service: self, query: query, params: params, id: id, clock: clock) { $0 })
    }
}

extension TypedService {
    /// The current result of a query as models, kept right by the service's events; see ``Service/live(_:params:id:clock:)``.
    public func live(
        _ query: Query = Query(), params: Params = Params(), id: String = "id", clock: any Clock<Duration> = ContinuousClock()
    ) -> LiveQuery<Model> {
        LiveQuery(
            source: LiveSource(service: untyped, query: query, params: params, id: id, clock: clock, read: page) {
                try decodeRecord($0, params)
            })
    }
}

extension TypedService {
    /// The current result of a typed query, kept right by the service's events; see ``Service/live(_:params:id:clock:)``.
    /// - Throws: ``FeathersError/Code/badRequest`` naming the property whose name on the server is not known.
    public func live(
        _ query: TypedQuery<Model>, params: Params = Params(), id: String = "id", clock: any Clock<Duration> = ContinuousClock()
    ) throws -> LiveQuery<Model> {
        try live(written(query, params), params: params, id: id, clock: clock)
    }
}
