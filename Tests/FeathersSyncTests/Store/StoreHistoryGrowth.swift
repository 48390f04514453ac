import FeathersCore

@testable import FeathersSync

/// Lists that grow, as `LiveGrowth` makes them.
extension StoreHistory {
    /// A list's growth that has not ended.
    struct Growth {
        let step: Int
        /// When the fetch was sent whose answer it waits for.
        var time: Int?
        var hasFetchedAll = false
    }

    func grow() throws {
        let ids = device.queries.keys.sorted().filter { device.growths[$0] == nil }
        guard let id = ids.randomElement(using: &random) else { return }
        let count = chance(0.5) ? nil : Int.random(in: 1..<6, using: &random)
        guard let step = device.store.change(id, { $0.grow(by: count) }), step > 0 else { return }
        device.growths[id] = Growth(step: step)
        self.count("growths")
        isOnline ? fill(id) : takeBack(id)
    }

    /// Fetches what is missing from a list that has grown.
    func fill(_ id: Window.ID) {
        guard device.growths[id]?.time == nil else { return }
        do {
            guard let begun = try device.store.beginAddition(id) else {
                device.growths[id] = nil
                return
            }
            count("additions")
            send(begun, for: id, grows: true)
        } catch {
            fillWithAll(id)
        }
    }

    private func fillWithAll(_ id: Window.ID) {
        guard device.growths[id]?.hasFetchedAll == false else {
            count("refused growths")
            return takeBack(id)
        }
        if let begun = beginWhole(id) { send(begun, for: id, grows: true) }
    }

    /// Fetches a whole result, in place of a fetch in flight.
    func refresh() throws {
        guard isOnline, let id = device.queries.keys.sorted().randomElement(using: &random) else { return }
        if let begun = beginWhole(id) { send(begun, for: id) }
    }

    private func beginWhole(_ id: Window.ID) -> (fetch: Window.Fetch, request: Query<JSONValue>)? {
        device.store.confirm()
        _ = device.store.change(id) { $0.want(.now) }
        return device.store.beginFetch(id)
    }

    func send(_ begun: (fetch: Window.Fetch, request: Query<JSONValue>), for id: Window.ID, grows: Bool = false) {
        finds.append(Find(window: id, fetch: begun.fetch, request: begun.request, first: begun.request))
        if grows { device.growths[id]?.time = begun.fetch.time }
    }

    /// Ends a growth that has failed: the list is as it was.
    func takeBack(_ id: Window.ID) {
        guard let growth = device.growths.removeValue(forKey: id) else { return }
        _ = device.store.change(id) { window in
            window.growth -= growth.step
            window.endAddition()
        }
    }

    /// Loses the answer of a fetch.
    func lose(_ index: Int) {
        let find = finds.remove(at: index)
        if device.store.windows[find.window]?.fetch?.time == find.fetch.time {
            _ = device.store.change(find.window) { window in
                window.endFetch()
                window.want(.now)
            }
        }
        if device.growths[find.window]?.time == find.fetch.time { takeBack(find.window) }
    }

    /// Takes a page from the server. If it is smaller than was asked for, the records that follow are asked for.
    func found(_ page: Page<JSONValue>, by index: Int) throws {
        var find = finds[index]
        let step = find.pages.add(page)
        let next =
            switch (step, find.pages.whole) {
            case (.over, _): Query<JSONValue>?.none
            case (_, let whole?): device.store.windows[find.window]?.request(after: whole, in: find.fetch)
            default: find.first
            }
        if let next {
            count(step == .again ? "pages again" : "further pages")
            (find.request, find.answer) = (next, nil)
            finds[index] = find
            return
        }
        finds.remove(at: index)
        let (id, fetch) = (find.window, find.fetch)
        let window = device.store.windows[id]
        let isCurrent = [window?.fetch?.time, window?.addition?.time].contains(fetch.time)
        try device.store.fetched(
            id, fetch.time, find.pages.whole ?? page, device.queries[id]?.hooks ?? HookEffects())
        guard device.growths[id]?.time == fetch.time else { return }
        device.growths[id]?.time = nil
        if fetch.scope == .all { device.growths[id]?.hasFetchedAll = isCurrent }
        fill(id)
    }

    /// What a list shows that has grown: the first records of the whole result.
    func grownLimit(_ query: StoreQuery, _ window: Window) -> Int? {
        guard window.growth > 0 else { return nil }
        return min(query.limit ?? .max, has(.paginated) ? 3 : .max >> 1) + window.growth
    }
}
