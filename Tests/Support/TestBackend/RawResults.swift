package import FeathersCore

extension Service {
    /// Returns the result of `find` as the server sent it, which need not be a list.
    package func rawFind(_ query: Query<Model> = Query(), params: Params = Params()) async throws -> JSONValue {
        try await respond(to: makeRequest(.find, query: query, params: params)).result
    }
}
