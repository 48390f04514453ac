import FeathersCore

@testable import FeathersSync

/// What must be true after each message, and once nothing is on its way.
extension StoreHistory {
    private func clean(_ record: JSONValue) -> JSONValue {
        let properties = record.object?.filter { $0.key != "x" }.sorted { $0.key < $1.key } ?? []
        return .object(JSONObject(properties.map { ($0.key, $0.value) }))
    }

    func look() throws {
        let queue = device.queue
        for id in device.queries.keys.sorted() {
            guard let query = device.queries[id], let content = device.store.content(of: id) else { continue }
            try compareWithWhole(content, id)
            try requireOneState(in: id)
            let keys = Set(content.rows.map(\.key))
            if keys.count < content.rows.count { throw Failure("a key twice: \(content.rows.map(\.record))") }
            for row in content.rows {
                if !server.sees(row.record, user) { throw Failure("of another user: \(row.record)") }
                if let id = row.record["id"]?.integer, own[id] != nil, !query.isShaped, row.writeState == .confirmed,
                    isOlder(id, clean(row.record))
                {
                    count("older")
                    own[id] = nil
                }
                try lookForOlder(row, in: id, query)
                if row.record["id"]?.string != nil, !queue.contains(where: { $0.write.key(id: "id") == row.key }) {
                    throw Failure("not queued: \(row.record)")
                }
            }
            for item in queue where item.write.method == .create {
                let key = item.write.key(id: "id")
                let isRemoved = queue.contains { $0.write.method == .remove && $0.write.key(id: "id") == key }
                if query.name == "all", !has(.paginated), !isRemoved, !keys.contains(key) {
                    throw Failure("a queued creation is not shown: \(item)")
                }
                if item.isCreation, keys.contains(key), let made = server.done[item.write.id], isPlain(made.id),
                    keys.contains("\(made.id)")
                {
                    throw Failure("a record with two rows: \(item)")
                }
            }
        }
    }

    /// A record has one state, to which the lists refer.
    private func requireOneState(in id: Window.ID) throws {
        guard let window = device.store.windows[id], window.isShared else { return }
        for row in window.known where device.store.records[row.key] !== row.state {
            throw Failure("two states: \(row.record) and \(device.store.records[row.key]?.value ?? .null)")
        }
    }

    /// Rows that are brought up to date are those that would be made anew.
    private func compareWithWhole(_ content: Window.Content, _ id: Window.ID) throws {
        guard var window = device.store.windows[id] else { return }
        let hidden = window.shown.hiddenCount
        window.touch(nil)
        let whole = window.content(
            device.store.answered + device.store.queue, device.store.records, hiding: device.store.lookAlikes)
        let isSame =
            content.rows.count == whole.rows.count && hidden == window.shown.hiddenCount
            && zip(content.rows, whole.rows).allSatisfy {
                $0.key == $1.key && $0.record == $1.record && $0.writeState == $1.writeState && $0.write == $1.write
            }
        guard isSame, content.total == whole.total else {
            throw Failure("\(content.rows.map(\.record)) instead of \(whole.rows.map(\.record)); \(state(of: window))")
        }
    }

    /// No window ever shows a version of a confirmed record older than one that it has shown before. One whose records
    /// hooks shape learns that from its first page; until then, it shows the responses to own writes.
    private func lookForOlder(_ row: ResultRow, in window: Window.ID, _ query: StoreQuery) throws {
        guard has(.versioned), row.writeState == .confirmed, let id = row.record["id"]?.integer,
            let version = row.record["v"]?.integer, !query.isShaped || device.store.windows[window]?.time ?? 0 > 0
        else { return }
        let last = device.shown[window]?[id] ?? version
        if version < last { throw Failure("\(query.name): version \(version) of \(id) after \(last)") }
        device.shown[window, default: [:]][id] = version
    }

    /// Whether a record is as it was created, and nothing else looks like it.
    private func isPlain(_ id: Int64) -> Bool {
        server.history[id]?.count == 1 && !has(.repeatingValues) && !has(.lookAlikes) && !has(.noKeys) && !has(.precise)
    }

    /// Whether an older state of an own result is shown.
    private func isOlder(_ id: Int64, _ shown: JSONValue) -> Bool {
        let states = server.history[id]?.drop { $0.version < own[id] ?? 0 } ?? []
        return !states.contains { $0.record == shown }
    }

    func rest(_ phase: String) throws {
        var rounds = 0
        repeat {
            rounds += 1
            if rounds > 500 { throw Failure("no rest: \(device.queue.map(\.description))") }
            for item in device.queue where !isPaused { decide(item) }
            try pump()
            for index in calls.indices where calls[index].answer == nil { execute(index) }
            for index in finds.indices where finds[index].answer == nil { try read(index) }
            while !calls.isEmpty {
                try answer(0)
                try look()
            }
            try hear(.max)
            while !finds.isEmpty {
                if finds[0].answer == nil { try read(0) }
                try found(0)
                try look()
            }
            device.store.confirm()
            try pump()
        } while !calls.isEmpty || !finds.isEmpty || !isPaused && !device.queue.isEmpty
        for id in device.queries.keys.sorted() { try compare(id, phase) }
    }

    private func state(of window: Window) -> String {
        "queue \(device.queue), known \(window.known.map(\.record)), complete \(window.isComplete)"
    }

    private func compare(_ id: Window.ID, _ phase: String) throws {
        guard let query = device.queries[id], let content = device.store.content(of: id),
            let window = device.store.windows[id]
        else { return }
        let queue = device.queue
        let windows = device.store.windows.values
        // A queued write to a record in no window shows what was last known of it.
        let isKnown = queue.allSatisfy { item in
            let key = item.write.key(id: "id")
            return item.isCreation || windows.contains { $0.isShared && $0[key] != nil }
                || device.store.records.ofWrite(key) == nil && Int64(key).flatMap { server[$0] } == nil
        }
        // The records behind a page that is not the first are not fetched for it.
        let removes = queue.contains { $0.write.method == .remove }
        // A shaped result gains no record by a queued write.
        let isLimit =
            !isKnown || has(.paginated) || has(.precise) || query.skips && removes
            || query.limit != nil && (!query.isSorted || query.isShaped)
        if !queue.isEmpty, isLimit { return count("left out") }
        // A refused write shows only a record that exists nowhere else.
        let writes = queue.filter { $0.state != .refused || $0.write.method == .create }.map(\.write)
        var rows = content.rows.map { clean(window.judge.select($0.record)) }
        let grownLimit = grownLimit(query, window)
        var wanted = try server.expected(query, user, writes, grownLimit: grownLimit).map {
            clean(window.judge.select($0))
        }
        if !queue.isEmpty, !query.isSorted {
            rows.sort { "\($0)" < "\($1)" }
            wanted.sort { "\($0)" < "\($1)" }
        }
        guard rows == wanted else {
            throw Failure("\(phase), \(query.name): \(rows) instead of \(wanted); \(state(of: window))")
        }
        count(queue.isEmpty ? "windows" : "windows, queued")
        if grownLimit != nil { count("grown windows") }
        guard queue.isEmpty else { return }
        if content.rows.contains(where: { $0.writeState != .confirmed }) { throw Failure("pending: \(query.name)") }
        var request = query.request
        request.json["$limit"] = nil
        request.json["$skip"] = nil
        let total = try server.matching(request, query.hooks, user)
        if !window.hasMore, !query.skips, rows.count < total {
            throw Failure("no more after \(rows.count) of \(total), \(query.name); \(state(of: window))")
        }
        if content.isTotalEstimated || content.total == nil { return count("estimates") }
        guard content.total == total else {
            throw Failure("total, \(query.name): \(content.total ?? -1) instead of \(total); \(state(of: window))")
        }
    }
}
