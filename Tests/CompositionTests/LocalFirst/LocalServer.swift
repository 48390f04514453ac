import FeathersCore

/// A list of records: a service, and the value for its placeholder, if it has one.
struct LocalPlace: Hashable, Sendable {
    let path: String
    var team: String?

    var route: [String: String] { team.map { ["team": $0] } ?? [:] }
}

/// The server of a local-first history: services whose records belong to users. Each service is a plain list of records.
struct LocalServer: Sendable {
    /// A change, and whose record it concerns.
    struct Change: Sendable {
        let owner: String
        let event: ServiceEvent
    }

    /// How a request ended.
    struct Outcome: Sendable {
        let result: Result<JSONValue, FeathersError>
        /// Nil if nothing was changed, such as by a repeated write.
        var change: Change?
    }

    private let traits: Set<LocalTrait>
    /// The records of each service, in the order of their creation.
    private var records: [String: [JSONObject]] = [:]
    /// How often the app's write with each mark was executed.
    private(set) var executions: [Int64: Int] = [:]
    /// The ids of the records that the app's writes have created, by their keys.
    private(set) var created: [String: ServiceID] = [:]
    private var lastID: Int64 = 0
    /// The number of changes.
    private var position = 0
    private var done: [String: Result<JSONValue, FeathersError>] = [:]

    init(_ traits: Set<LocalTrait>) { self.traits = traits }

    func records(at place: LocalPlace, of user: String) -> [JSONValue] {
        (records[place.path] ?? []).filter {
            $0["owner"]?.string == user && (place.team == nil || $0["team"]?.string == place.team)
        }.map { .object($0) }
    }

    func find(_ query: Query<JSONValue>, at place: LocalPlace, as user: String) throws -> [JSONValue] {
        let matcher = try QueryMatcher(query)
        var found = records(at: place, of: user).filter(matcher.matches)
        if let sorter = try QuerySorter(query) { found = sorter.sorted(found) }
        found.removeFirst(min(query.json["$skip"]?.integer.map { Int($0) } ?? 0, found.count))
        return Array(found.prefix(query.json["$limit"]?.integer.map { Int($0) } ?? .max))
    }

    /// Executes a request.
    /// - Parameters:
    ///   - key: The key of the app's own write, by which a repetition is recognized.
    ///   - refusal: Why a write is refused.
    mutating func execute(_ request: ServiceRequest, key: String? = nil, as user: String, refusal: FeathersError? = nil)
        -> Outcome
    {
        if !traits.contains(.unkeyed), let key, let before = done[key] { return Outcome(result: before) }
        let outcome: Outcome
        do throws(FeathersError) {
            outcome = try executed(request, key: key, as: user, refusal: refusal)
        } catch {
            outcome = Outcome(result: .failure(error))
        }
        if let key, outcome.change != nil { done[key] = outcome.result }
        return outcome
    }

    private mutating func executed(
        _ request: ServiceRequest, key: String?, as user: String, refusal: FeathersError?
    ) throws(FeathersError) -> Outcome {
        if user == "nobody" { throw FeathersError(.notAuthenticated, "Not authenticated") }
        let place = LocalPlace(path: request.path, team: request.params.route["team"])
        let query = request.params.query
        if request.method == .find {
            do { return Outcome(result: .success(.array(try find(query, at: place, as: user)))) } catch {
                throw FeathersError(.badRequest, "\(error)")
            }
        }
        let data = request.data?.object ?? [:]
        let index = records[place.path, default: []].firstIndex {
            $0["id"] == request.id?.json && $0["owner"]?.string == user
                && (place.team == nil || $0["team"]?.string == place.team)
        }
        var record = index.flatMap { records[place.path]?[$0] } ?? [:]
        if request.method != .create, index == nil { throw FeathersError(.notFound, "No record") }
        if request.method == .get { return Outcome(result: .success(.object(record))) }
        if let refusal { throw refusal }
        switch request.method {
        case .create:
            lastID += 1
            let id = data["id"] ?? (traits.contains(.textIDs) ? .string("r\(lastID)") : .integer(lastID))
            if records[place.path]?.contains(where: { $0["id"] == id }) == true {
                throw FeathersError(.conflict, "The id is taken")
            }
            record = data
            (record["id"], record["team"]) = (id, place.team.map { .string($0) })
            if let key { created[key] = ServiceID(id) }
        case .update:
            let id = record["id"]
            record = data
            (record["id"], record["team"]) = (id, place.team.map { .string($0) })
        case .patch: for (name, value) in data where name != "id" { record[name] = value }
        default: break
        }
        record["owner"] = .string(user)
        switch (request.method, index) {
        case (.remove, let index?): records[place.path]?.remove(at: index)
        case (_, let index?): records[place.path]?[index] = record
        default: records[place.path, default: []].append(record)
        }
        position += 1
        if key != nil, let mark = data["mark"]?.integer { executions[mark, default: 0] += 1 }
        let event = ServiceEvent(
            path: place.path, name: EventName(endOf: request.method) ?? .patched, data: .object(record))
        return Outcome(
            result: .success(key == nil ? .object(record) : response(record, request)),
            change: Change(owner: user, event: event))
    }

    private func response(_ record: JSONObject, _ request: ServiceRequest) -> JSONValue {
        // Without the id of what it has created, what refers to that cannot be sent.
        let isNameless = request.method == .create && request.data?["id"] == nil
        if traits.contains(.emptyResponses), !isNameless { return .null }
        if traits.contains(.otherResponses) { return isNameless || position.isMultiple(of: 2) ? [.object(record)] : 1 }
        guard let selected = request.params.query.json["$select"]?.array else { return .object(record) }
        return .object(JSONObject(record.filter { selected.contains(.string($0.key)) }.map { ($0.key, $0.value) }))
    }
}
