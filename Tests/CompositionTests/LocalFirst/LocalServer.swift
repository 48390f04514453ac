import FeathersCore

/// The server of a local-first history: a service whose records belong to users, with every state that each record has
/// had.
struct LocalServer: Sendable {
    /// A state of a record, and the position of the change that made it.
    struct Version: Sendable {
        let position: Int
        /// Nil if the change removed the record.
        let record: JSONObject?
    }

    /// A change, and whose record it concerns.
    struct Change: Sendable {
        let id: Int64
        let position: Int
        let owner: String
        let event: ServiceEvent
    }

    /// How a request ended, and at which position.
    struct Outcome: Sendable {
        let result: Result<JSONValue, FeathersError>
        let position: Int
        /// The record concerned; nil for `find`.
        var id: Int64?
        /// Nil if nothing was changed, such as by a repeated write.
        var change: Change?
    }

    static let path = "records"

    /// Whether writes are executed once only, by their key.
    var isKeyed = true
    /// The number of changes.
    private(set) var position = 0
    private(set) var versions: [Int64: [Version]] = [:]
    /// How often the write with each mark was executed.
    private(set) var executions: [Int64: Int] = [:]
    private var lastID: Int64 = 0
    private var done: [String: Outcome] = [:]

    func record(_ id: Int64) -> JSONObject? { versions[id]?.last?.record }

    func ids(of user: String) -> [Int64] { versions.keys.filter { record($0)?["owner"]?.string == user }.sorted() }

    func find(_ query: Query<JSONValue>, as user: String) throws -> [JSONValue] {
        let matcher = try QueryMatcher(query)
        var found = ids(of: user).compactMap { record($0).map { JSONValue.object($0) } }.filter(matcher.matches)
        if let sorter = try QuerySorter(query) { found = sorter.sorted(found) }
        return Array(found.prefix(query.json["$limit"]?.integer.map { Int($0) } ?? .max))
    }

    /// Executes a request.
    /// - Parameters:
    ///   - key: The key by which a repetition is recognized.
    ///   - refusal: Why a write is refused.
    mutating func execute(_ request: ServiceRequest, key: String? = nil, as user: String, refusal: FeathersError? = nil)
        -> Outcome
    {
        if isKeyed, let key, let before = done[key] {
            return Outcome(result: before.result, position: before.position, id: before.id)
        }
        if request.method == .find {
            return Outcome(
                result: Result { try find(request.params.query, as: user) }.map { .array($0) }.mapError {
                    $0 as? FeathersError ?? FeathersError(.badRequest, "\($0)")
                }, position: position)
        }
        var id = request.id.flatMap { Int64($0.description) }
        let old = id.flatMap { self.record($0) }
        if request.method != .create, old?["owner"]?.string != user {
            return Outcome(result: .failure(FeathersError(.notFound, "No record")), position: position, id: id)
        }
        if request.method == .get { return Outcome(result: .success(.object(old ?? [:])), position: position, id: id) }
        if let refusal { return Outcome(result: .failure(refusal), position: position, id: id) }
        var record = old ?? [:]
        let data = request.data?.object ?? [:]
        switch request.method {
        case .create:
            lastID += 1
            id = lastID
            record = data
        case .update: record = data
        case .patch: for (name, value) in data { record[name] = value }
        default: break
        }
        let number = id ?? 0
        (record["id"], record["owner"]) = (.integer(number), .string(user))
        position += 1
        versions[number, default: []].append(
            Version(position: position, record: request.method == .remove ? nil : record))
        if let mark = data["mark"]?.integer { executions[mark, default: 0] += 1 }
        let event = ServiceEvent(
            path: Self.path, name: EventName(endOf: request.method) ?? .patched, data: .object(record))
        let outcome = Outcome(
            result: .success(.object(record)), position: position, id: number,
            change: Change(id: number, position: position, owner: user, event: event))
        if let key { done[key] = outcome }
        return outcome
    }
}
