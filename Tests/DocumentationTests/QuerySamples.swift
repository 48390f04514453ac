import Feathers
import Foundation

// The samples of the article about queries, each one as it stands there: `ReadmeTests` compares them.

func builtQuery() -> Query<JSONValue> {
    let query = Query.where("age", .greaterThanOrEqual(18)).where("name", .notEquals("Bob"))
        .sorted(by: "name").sorted(by: "age", .descending)
        .limit(10).skip(20).selecting("id", "name")
    return query
}

func groupedQueries() -> [Query<JSONValue>] {
    let either = Query.any(of: [
        .where("team", "red"), .where("address.city", .isIn(["Rome", "Oslo"])),
    ])
    let both = Query.where("archived", false).all(of: [either, .where("tags", "swift")])
    return [either, both]
}

func rawQueries() -> [Query<JSONValue>] {
    let literal: Query<JSONValue> = ["age": ["$gt": 18], "$limit": 10]
    let search = Query(["$text": ["$search": "feathers"]]).limit(5)
    let populated = Query.where("team", "red").setting("$populate", "user")
    let custom = Query.where("name", .custom("$regex", "^A"))
    return [literal, search, populated, custom]
}

func matchesHere() throws -> [Bool] {
    let matcher = try QueryMatcher(
        .where("age", .greaterThan(18)).where("tags", .isIn(["swift", "js"])))
    let matches = matcher.matches(["age": 30, "tags": ["c", "swift"]])
    return [matches, matcher.matches(["age": 18, "tags": []])]
}

func allowsOperators(_ app: FeathersApp) async throws -> Page<JSONValue> {
    let startsWith = QueryOperator("$startsWith") { value, operand in
        guard let text = value?.string, let prefix = operand.string else { return false }
        return text.hasPrefix(prefix)
    }
    let users = try await app.use(
        MemoryService(operators: [.exists, startsWith]), at: "users")
    try await users.create(["name": "Ada"])
    let found = try await users.find(.where("name", .custom("$startsWith", "A")))
    return found
}

func typedQueryStrings(_ url: URL) -> RESTTransport {
    let transport = RESTTransport.rest(
        url, queryOptions: QueryStringOptions(serverParsesTypes: true))
    return transport
}

func longLists(_ url: URL) -> RESTTransport {
    let longLists = RESTTransport.rest(
        url, queryOptions: QueryStringOptions(arrayLimit: 1000))
    return longLists
}
