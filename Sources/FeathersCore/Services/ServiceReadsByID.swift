// Reading several records by their ids.

import FeathersSupport

extension Service {
    /// Returns the records with these ids, in the order of the ids.
    ///
    /// ```swift
    /// let authors = try await users.find(ids: messages.map(\.authorID))
    /// ```
    ///
    /// An id that occurs twice is read once. Records that do not exist, that do not match `query`, or that hooks of the
    /// server hide are left out. The ids are sent as `$in`, six requests at a time. Each has at most 50 ids, over REST
    /// no more than the transport's `arrayLimit`, and fewer if they are long, so that a URL stays short. Each request
    /// is a call of `find` with all hooks.
    ///
    /// A server without query schemas does not find numbers that are sent as text, as over REST. If none of a request's
    /// numbers, or texts of numbers, is found for that reason, each is read with `get`.
    /// - Parameters:
    ///   - ids: The ids. Without any, nothing is sent.
    ///   - query: More conditions, and the properties of the result. Its order, `$limit` and `$skip` have no effect.
    ///   - params: The other parameters.
    /// - Throws: ``FeathersError/Code/badRequest``, before anything is sent, if an id cannot be sent;
    ///   ``FeathersError/Code/generalError`` if a result is neither a list nor a page, or if a record has no id.
    @concurrent
    public func find(
        ids: some Sequence<some ServiceIDConvertible> & Sendable, query: Query<Model> = Query(),
        params: Params = Params()
    ) async throws -> [Model] {
        let memory = await registered.implementation.actor as? MemoryService
        let property = memory?.memoryOptions.id ?? idProperty
        var wanted = RequestedIDs()
        for id in ids { try wanted.append(id.serviceID) }
        var conditions = try params.query.joined(with: query.written(for: codec(for: params)))
        for name in ["$limit", "$skip", "$sort"] { conditions.json[name] = nil }
        if let selected = conditions.json["$select"]?.array, !selected.contains(.string(property)) {
            conditions.json["$select"] = .array(selected + [.string(property)])
        }
        let results = try await wanted.chunks(of: idsPerRequest).concurrentMap(atMost: RequestedIDs.concurrency) {
            [conditions, params = params.withoutQuery] in
            try await readRecords($0, by: property, conditions, params)
        }
        var found: [String: JSONValue] = [:]
        for result in results { found.merge(result.found) { $1 } }
        let unread = results.flatMap(\.unread)
        for (_, response) in try await json.responses(to: unread, conditions, params.withoutQuery) {
            found[try response.result.id(named: property).key] = response.result
        }
        return try wanted.ids.compactMap { id in
            guard let json = found[id.key] else { return nil }
            return try decodedRecord(json, params)
        }
    }

    /// The maximum number of ids in a request: those that an array can have over this service's transport.
    package var idsPerRequest: Int {
        get async { max(1, min(await registered.transport?.arrayLimit ?? .max, RequestedIDs.maximumCount)) }
    }

    /// Returns the records of one request's ids, by their ids as text, and the ids that only `get` may find. If a
    /// server's pages are smaller, the ids that it left out of a full page are requested again.
    private func readRecords(
        _ ids: [ServiceID], by property: String, _ conditions: Query<JSONValue>, _ params: Params
    ) async throws -> (found: [String: JSONValue], unread: [ServiceID]) {
        var found: [String: JSONValue] = [:]
        var open = ids
        var isText = false
        while !open.isEmpty {
            let query = conditions.where(property, .isIn(open.map(\.json))).limit(open.count)
            let response = try await executeCall(json.makeRequest(.find, query: query, params: params))
            isText = isText || response[SentQueryAsText.self] == true
            let page = try page(response.result)
            for record in page.data { found[try record.id(named: property).key] = record }
            let rest = open.filter { found[$0.key] == nil }
            // A list, or a page with room left, contains every remaining record.
            guard let limit = page.limit, page.count >= limit, rest.count < open.count else { break }
            open = rest
        }
        return (found, isText ? ids.unread { found[$0.key] != nil } : [])
    }

    /// Reads the records of ids with `get`, because the server has not found them by their text. Records that do not
    /// exist, or that the server does not show, are left out.
    package func responses(to ids: [ServiceID], _ query: Query<Model>, _ params: Params) async throws -> [(
        request: ServiceRequest, response: ServiceResponse
    )] {
        try await ids.concurrentMap(atMost: RequestedIDs.concurrency) { id in
            let request = try self.makeRequest(.get, id: id, query: query, params: params)
            do {
                return (request, try await self.respond(to: request))
            } catch let error as FeathersError where error.code == .notFound || error.code == .forbidden {
                return nil
            }
        }.compactMap(\.self)
    }

    /// Decodes a record. Where undecodable records are skipped, such a record is left out.
    private func decodedRecord(_ json: JSONValue, _ params: Params) throws -> Model? {
        do {
            return try decodeRecord(json, params)
        } catch {
            if params.skipsUndecodableRecords { return nil }
            let failure = UndecodableRecord(index: nil, json, error)
            throw FeathersError.undecodable("The result of 'find' on service '\(path)'", as: Model.self, failure)
        }
    }
}

/// Ids in the order in which they were first requested.
package struct RequestedIDs {
    /// The largest number of ids in a request.
    static let maximumCount = 50
    /// The largest number of requests at a time.
    package static let concurrency = 6
    /// The length of an id's name and separators in a query string, such as `&_id[$in][10]=` with encoded brackets.
    private static let overhead = 32
    /// The length of the ids in a query string. Servers and proxies accept URLs of 8,000 bytes, old ones of 2,000.
    private static let maximumBytes = 1750

    package private(set) var ids: [ServiceID] = []
    private var known: Set<String> = []

    package init() {}

    package mutating func append(_ id: ServiceID) {
        // In URLs, and in the responses of many databases, 7 and "7" are the same id.
        if known.insert(id.key).inserted { ids.append(id) }
    }

    /// Returns the ids, divided into requests.
    /// - Parameter limit: The maximum number of ids in a request.
    package func chunks(of limit: Int) -> [[ServiceID]] {
        var chunks: [[ServiceID]] = []
        var bytes = 0
        for id in ids {
            let size = percentEncoded(component: id.description).utf8.count + Self.overhead
            if let last = chunks.last, last.count < limit, bytes + size <= Self.maximumBytes {
                chunks[chunks.count - 1].append(id)
                bytes += size
            } else {
                chunks.append([id])
                bytes = size
            }
        }
        return chunks
    }
}

extension [ServiceID] {
    /// Returns the ids to read with `get` after a request has sent all of them as text: those that are numbers, or
    /// texts of numbers, if none of them is found.
    package func unread(_ isFound: (ServiceID) -> Bool) -> [ServiceID] {
        let numbers = filter(\.isNumberInURL)
        return numbers.contains(where: isFound) ? [] : numbers
    }
}

extension ServiceID {
    /// Whether the id is a number, or is the same text in a URL as a number.
    fileprivate var isNumberInURL: Bool {
        guard case .string(let text) = self else { return true }
        return !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
