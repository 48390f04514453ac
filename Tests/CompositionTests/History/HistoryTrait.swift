/// What makes a history of a whole app different from others. Each history draws some, and its title names them.
enum HistoryTrait: String, CaseIterable, Sendable {
    /// The server reads at most 20 elements of an array in a query string, and the others as keys of an object.
    /// Without it, it reads 1,000, as the app knows.
    case shortArrays
    /// Some writes over HTTP are redirected, before or after they were executed.
    case redirects
    /// A network's sign-in page responds with JSON to some requests over HTTP.
    case portal
    /// The ids of records are text.
    case textIDs
    /// Lists with a limit grow.
    case growth
    /// The outbox generates the ids of new records.
    case chosenIDs

    static func random(using generator: inout some RandomNumberGenerator) -> Set<HistoryTrait> {
        Set(allCases.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 })
    }
}
