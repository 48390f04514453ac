// Locks: No state: the number of pages that a fetch may still request is a lock of that fetch.

import FeathersCore
import FeathersSupport

/// The response to a fetch, which may have taken several requests.
struct FetchedPage: Sendable {
    var page: Page<JSONValue>
    var effects: HookEffects
    /// The keys whose records were not all read, because of a limit.
    var unread: Set<String> = []
    /// The answer of a replica, if the server was not asked.
    var replica: ReplicaAnswer?
}

extension LiveSource {
    /// Sends a fetch, in several requests if the server has smaller pages than a list that has grown, or if the records
    /// of many keys are wanted. It ends with a page that has nothing new.
    /// - Parameter asksServer: Whether the server is asked although a replica has the records.
    func page(
        _ query: Query<JSONValue>, _ fetch: Window.Fetch, _ window: LiveWindow, asksServer: Bool = false
    ) async throws -> FetchedPage {
        if !asksServer, let answer = try await replica(for: window)?.answer(query, fetch, window) {
            return FetchedPage(page: Page(data: []), effects: HookEffects(), replica: answer)
        }
        if let keys = fetch.keys { return try await page(of: keys, query, window) }
        if let counted = relation?.counted {
            let total = try await counted.requests.count(of: counted.key)
            return FetchedPage(page: Page(data: [], total: total, limit: 0, skip: 0), effects: HookEffects())
        }
        var (pages, effects) = (JoinedPages(id: id), HookEffects())
        var next = query
        while true {
            let (page, found) = try await self.page(next)
            effects = pages.whole == nil ? found : effects.union(found)
            let step = pages.add(page)
            if step == .over { break }
            guard let whole = pages.whole else {
                next = query
                continue
            }
            let request = window.withState { store, _ in store.windows[window.id]?.request(after: whole, in: fetch) }
            guard let request else { break }
            next = request
        }
        return FetchedPage(page: pages.whole ?? Page(data: []), effects: effects)
    }

    /// Adds the keys of a page's records to those that are known.
    /// - Returns: Whether any of them is new.
    private func addKeys(of page: Page<JSONValue>, to seen: inout Set<String>) -> Bool {
        let count = seen.count
        for record in page.data { if let key = RelatedKeys.text(record[id]) { seen.insert(key) } }
        return seen.count > count
    }

    /// Fetches the records of keys, within the app's limits.
    private func page(
        of keys: RelatedKeys, _ query: Query<JSONValue>, _ window: LiveWindow
    ) async throws -> FetchedPage {
        let limits = service.app.relationLimits
        var wanted = RequestedIDs()
        for value in keys.values.values { if let id = ServiceID(value) { wanted.append(id) } }
        let chunks = wanted.chunks(of: await service.idsPerRequest)
        let pages = Locked(limits.maximumPages)
        let results = try await chunks.concurrentMap(atMost: RequestedIDs.concurrency) { chunk in
            var base = query
            base.json["$sort"] = nil
            let query = base.where(keys.property, .isIn(chunk.map(\.json)))
            let result = try await self.pages(query, within: pages)
            // The ids may have another type there: `"7"` for `7`. Over REST, both are the same.
            let other = chunk.compactMap(\.ofOtherType)
            guard keys.property == id, !other.isEmpty, result.found.allSatisfy({ $0.page.isEmpty && !$0.isText })
            else { return result }
            return try await self.pages(
                base.where(keys.property, .isIn(other.map(\.json))), within: pages)
        }
        var found = results.map(\.found)
        var unread: Set<String> = []
        for (chunk, result) in zip(chunks, results) where !result.isWhole { unread.formUnion(chunk.map(\.key)) }
        if keys.property == id {
            var single = self.unread(chunks, in: found)
            if single.count > limits.maximumSingleReads {
                // The same ones in each fetch.
                single.sort { $0.key < $1.key }
                unread.formUnion(single[limits.maximumSingleReads...].map(\.key))
                single.removeLast(single.count - limits.maximumSingleReads)
            }
            found.append(try await records(single, query))
            // There is one record of such a key.
            for page in found.joined() { unread.subtract(page.page.data.compactMap { RelatedKeys.text($0[id]) }) }
        }
        warn(about: unread, limits)
        let (all, effects) = try combine(found, window, query)
        return FetchedPage(page: all, effects: effects, unread: unread)
    }

    /// Returns the error of a failed fetch as the library's own.
    func failure(_ error: any Error) -> FeathersError {
        error as? FeathersError
            ?? FeathersError(.generalError, "A fetch of service '\(service.path)' failed", cause: error)
    }

    private func warn(about unread: Set<String>, _ limits: RelationLimits) {
        guard !unread.isEmpty else { return }
        service.app.diagnostics.log(
            .warning, .calls,
            "The related records of service '\(service.path)' for \(unread.count) keys are not all read: a fetch reads "
                + "at most \(limits.maximumPages) further pages and \(limits.maximumSingleReads) records with 'get', "
                + "and ends with a page that has nothing new. See FeathersApp.relationLimits",
            [.path: .string(service.path)])
    }

    /// Returns what the requests of a fetch have brought as one page.
    private func combine(
        _ found: [[Found]], _ window: LiveWindow, _ query: Query<JSONValue>
    ) throws -> (Page<JSONValue>, HookEffects) {
        var all = Page<JSONValue>(data: [])
        var (effects, empty) = (HookEffects(), HookEffects())
        for (page, found, _) in found.joined() {
            all.data += page.data
            effects.changeQueries = effects.changeQueries || found.changeQueries
            if page.isEmpty { empty = found } else { effects = effects.union(found) }
        }
        if all.isEmpty {
            // An empty result says nothing about records that are known already.
            let before = window.withState { store, _ in
                store.windows[window.id].flatMap { $0.known.isEmpty ? nil : $0.hooks.changeResults }
            }
            effects.changeResults = before ?? empty.changeResults
        }
        if let sorter = try QuerySorter(query, comparesMoments: true) { all.data = sorter.sorted(all.data) }
        return (all, effects)
    }

    /// Reads the pages of a query. Records may be removed and created between two of them so that some seem to be missing
    /// after the last one. Then all are read once more.
    /// - Parameter left: The number of pages, besides the first, that this fetch may still read.
    /// - Returns: The pages, and whether they are all of them.
    private func pages(
        _ query: Query<JSONValue>, within left: Locked<Int>, again: Bool = false
    ) async throws -> (found: [Found], isWhole: Bool) {
        var pages: [Found] = []
        var seen: Set<String> = []
        var cursor = try PageCursor(query, size: 1000, key: id)
        while let next = try cursor.next(atMost: 1).first {
            let mayRead =
                pages.isEmpty
                || left.withLock { left in
                    left -= 1
                    return left >= 0
                }
            guard mayRead else { return (pages, false) }
            let found: Found = try await control.turns.run { try await self.found(next) }
            let hasNews = addKeys(of: found.page, to: &seen)
            if !pages.isEmpty, !found.page.isEmpty, !hasNews { return (pages, false) }
            pages.append(found)
            do { try cursor.received(found.page) } catch {
                if again { throw error }
                return try await self.pages(query, within: left, again: true)
            }
        }
        return (pages, true)
    }

    /// Returns the ids to read with `get`, because the server has not found them by their text.
    private func unread(_ chunks: [[ServiceID]], in found: [[Found]]) -> [ServiceID] {
        zip(chunks, found).flatMap { ids, pages in
            guard pages.contains(where: \.isText) else { return [ServiceID]() }
            let known = Set(pages.flatMap(\.page.data).compactMap { RelatedKeys.text($0[id]) })
            return ids.unread { known.contains($0.key) }
        }
    }

    /// Reads the records of ids with `get`.
    private func records(_ ids: [ServiceID], _ query: Query<JSONValue>) async throws -> [Found] {
        var query = query
        for name in ["$limit", "$sort"] { query.json[name] = nil }
        return try await service.responses(to: ids, query, fetchParams).map { request, response in
            try request.checkRecord(in: response.result, [id])
            return (Page(data: [response.result]), effects(of: response, to: request, isEmpty: false), true)
        }
    }

    /// Reads one record; nil if it does not exist.
    func record(_ recordID: ServiceID) async throws -> JSONValue? {
        let found = try await found(Query().setting(id, recordID.json).limit(1))
        if let record = found.page.first { return record }
        return try await records(unread([[recordID]], in: [[found]]), Query()).first?.page.first
    }
}

extension ServiceID {
    /// The same id as a number or text; nil if it is not the text of a number.
    fileprivate var ofOtherType: ServiceID? {
        switch self {
        case .string(let text): Int64(text).flatMap { String($0) == text ? ServiceID(.integer($0)) : nil }
        default: ServiceID(.string(key))
        }
    }
}
