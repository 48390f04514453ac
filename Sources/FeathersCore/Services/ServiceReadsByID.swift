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
    /// server hide are left out. The ids are sent as `$in`, at most 50 in a request, and fewer if they are long, so
    /// that a URL stays short. Each request is a call of `find` with all hooks.
    ///
    /// A server without query schemas does not find numbers that are sent as text, as over REST. Where none of a
    /// request's ids is found for that reason, each is read with `get`.
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
        let property = memory?.options.id ?? idProperty
        var wanted = RequestedIDs()
        for id in ids { try wanted.append(id.serviceID) }
        var conditions = try params.query.joined(with: query.written(for: codec(for: params)))
        for name in ["$limit", "$skip", "$sort"] { conditions.json[name] = nil }
        if let selected = conditions.json["$select"]?.array, !selected.contains(.string(property)) {
            conditions.json["$select"] = .array(selected + [.string(property)])
        }
        var found: [String: JSONValue] = [:]
        for chunk in wanted.chunks {
            found.merge(try await records(chunk, by: property, conditions, params.withoutQuery)) { $1 }
        }
        return try wanted.ids.compactMap { id in
            guard let json = found[id.description] else { return nil }
            return try record(json, params)
        }
    }

    /// Returns the records of one request's ids, by their ids as text. If a server's pages are smaller, the ids that it
    /// left out of a full page are requested again.
    private func records(
        _ ids: [ServiceID], by property: String, _ conditions: Query<JSONValue>, _ params: Params
    ) async throws -> [String: JSONValue] {
        var found: [String: JSONValue] = [:]
        var open = ids
        while !open.isEmpty {
            let query = conditions.where(property, .isIn(open.map(\.json))).limit(open.count)
            let response = try await execute(json.request(.find, query: query, params: params))
            let page = try page(response.result)
            if page.isEmpty, response[SentQueryAsText.self] == true {
                for (_, response) in try await json.responses(to: open, conditions, params) {
                    found[try response.result.id(named: property).description] = response.result
                }
                break
            }
            for record in page.data { found[try record.id(named: property).description] = record }
            let rest = open.filter { found[$0.description] == nil }
            // A list, or a page with room left, contains every remaining record.
            guard let limit = page.limit, page.count >= limit, rest.count < open.count else { break }
            open = rest
        }
        return found
    }

    /// Reads the records of those ids that are numbers, one by one, because the server has not found them by their
    /// text. Records that do not exist, or that the server does not show, are left out.
    package func responses(to ids: [ServiceID], _ query: Query<Model>, _ params: Params) async throws -> [(
        request: ServiceRequest, response: ServiceResponse
    )] {
        let numbers = ids.filter { if case .string = $0 { false } else { true } }
        return try await numbers.concurrentMap { id in
            let request = try self.request(.get, id: id, query: query, params: params)
            do {
                return (request, try await self.respond(to: request))
            } catch let error as FeathersError where error.code == .notFound || error.code == .forbidden {
                return nil
            }
        }.compactMap(\.self)
    }

    /// Decodes a record. Where undecodable records are skipped, such a record is left out.
    private func record(_ json: JSONValue, _ params: Params) throws -> Model? {
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
    private static let maximumCount = 50
    /// The length of an id's name and separators in a query string, such as `&_id[$in][10]=` with encoded brackets.
    private static let overhead = 32
    /// The length of the ids in a query string. Servers and proxies accept URLs of 8,000 bytes, old ones of 2,000.
    private static let maximumBytes = 1750

    package private(set) var ids: [ServiceID] = []
    private var known: Set<String> = []

    package init() {}

    package mutating func append(_ id: ServiceID) {
        // In URLs, and in the responses of many databases, 7 and "7" are the same id.
        if known.insert(id.description).inserted { ids.append(id) }
    }

    /// The ids, divided into requests.
    package var chunks: [[ServiceID]] {
        var chunks: [[ServiceID]] = []
        var bytes = 0
        for id in ids {
            let size = percentEncoded(component: id.description).utf8.count + Self.overhead
            if let last = chunks.last, last.count < Self.maximumCount, bytes + size <= Self.maximumBytes {
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
