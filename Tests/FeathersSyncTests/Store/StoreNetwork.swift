import FeathersCore
import Foundation

@testable import FeathersSync

/// What the network and the outbox do.
extension StoreHistory {
    func pump() throws {
        guard isOnline else { return }
        for item in device.queue {
            let key = item.write.key(id: "id")
            guard item.state == .again || item.state == .waiting && !isPaused else { continue }
            let waits = device.queue.contains { other in
                let record = other.write.key(id: "id")
                return other.number < item.number && (record == key || other.isCreation && item.mentions(record))
            }
            guard !waits else { continue }
            device.store.begun(item.write.id, isRepeated: item.mayHaveExecuted)
            set(item.write.id, .sending)
            calls.append(Call(write: item.write))
        }
        for id in device.queries.keys.sorted() {
            _ = device.store.content(of: id)
            guard device.store.windows[id]?.wantedFetch != nil, let begun = device.store.beginFetch(id) else {
                continue
            }
            send(begun, for: id)
            count("fetches")
        }
    }

    func set(_ id: UUID, _ state: Item.State, mayHaveExecuted: Bool? = nil) {
        guard let index = device.queue.firstIndex(where: { $0.write.id == id }) else { return }
        device.queue[index].state = state
        if let mayHaveExecuted { device.queue[index].mayHaveExecuted = mayHaveExecuted }
    }

    func hear(_ count: Int) throws {
        let events = server.events[user] ?? []
        guard isOnline else { return }
        for _ in 0..<max(min(count, events.count - device.heard), 0) {
            device.heard += 1
            let event = events[device.heard - 1]
            let isLate = has(.disorderly) && chance(0.3)
            if isLate || has(.disorderly) && chance(0.2) { device.late.append(event) }
            if !isLate { device.store.event(event) }
            try look()
        }
        while !device.late.isEmpty, count == .max || chance(0.4) {
            device.store.event(device.late.remove(at: .random(in: device.late.indices, using: &random)))
            try look()
        }
    }

    func miss() {
        for user in StoreServer.users {
            devices[user]?.heard = server.events[user]?.count ?? 0
            devices[user]?.late = []
        }
    }

    /// Events that a response or a page includes are heard before it, unless it overtakes them.
    private func hear(until position: Int) throws { if !has(.overtaking) { try hear(position - device.heard) } }

    func execute(_ index: Int) {
        let write = calls[index].write
        let id = (write.recordID?.json ?? write.data?["id"])?.integer
        let isRefused = device.queue.first { $0.write.id == write.id }.map { $0.number % 9 == 0 } ?? false
        let result = server.execute(write.method, id, write.data, user, key: write.id, isRefused: isRefused)
        calls[index].answer = (result, server.events[user]?.count ?? 0)
    }

    func read(_ index: Int) throws {
        guard let query = device.queries[finds[index].window] else { return }
        let page = try server.answer(finds[index].request, query.hooks, user)
        finds[index].answer = (page, server.events[user]?.count ?? 0)
    }

    func answer(_ index: Int) throws {
        guard let (result, position) = calls[index].answer else { return }
        // A limit: an equal event of another client may be taken for the own one.
        if has(.muted) && has(.repeatingValues) || chance(0.5) { try hear(until: position) }
        let call = calls.remove(at: index)
        guard let item = device.queue.first(where: { $0.write.id == call.write.id }) else { return }
        guard let result else {
            fail(item, .rejected, FeathersError(.badRequest, "Refused"), mayHaveExecuted: item.mayHaveExecuted)
            if chance(0.5) { discard(item.write.id) }
            return
        }
        let isDoubtful = device.store.queue.contains { $0.id == item.write.id && $0.isDoubtful }
        if has(.noEvents) {
            device.store.event(ServiceEvent(ownAt: "records", name: result.name, data: result.record))
        }
        device.queue.removeAll { $0.write.id == item.write.id }
        device.store.respond(to: item.write.id, ServerResult(value: result.record, sender: nil))
        if item.isCreation { rename(item.write.key(id: "id"), to: result.id) }
        own[result.id] = isDoubtful || result.name == .removed ? nil : max(own[result.id] ?? 0, result.version)
    }

    /// Replaces a provisional id in the writes that follow.
    private func rename(_ key: String, to id: Int64) {
        for index in device.queue.indices where device.queue[index].mentions(key) {
            var write = device.queue[index].write
            if write.recordID == .string(key) { write.recordID = .integer(id) }
            write.data = write.data?.object.map { object in
                .object(JSONObject(object.map { ($0.key, $0.value == .string(key) ? .integer(id) : $0.value) }))
            }
            device.queue[index].write = write
            device.store.show(OutboxQueue.Item(write: write, number: device.queue[index].number))
        }
    }

    func found(_ index: Int) throws {
        guard let (page, position) = finds[index].answer else { return }
        try hear(until: position)
        try found(page, by: index)
    }

    private func fail(
        _ item: Item, _ reason: OutboxFailure.Reason, _ error: FeathersError, mayHaveExecuted: Bool
    ) {
        let failure = OutboxFailure(write: item.write, reason: reason, error: error, mayHaveExecuted: mayHaveExecuted)
        set(item.write.id, reason == .unknown ? .unknown : .refused)
        device.store.show(OutboxQueue.Item(write: item.write, failure: failure, number: item.number))
    }

    /// The connection is lost: the outcome of calls is unknown, and events are missed.
    func cut() {
        for index in calls.indices {
            if calls[index].answer == nil, chance(0.5) { execute(index) }
            guard let item = device.queue.first(where: { $0.write.id == calls[index].write.id }) else { continue }
            set(item.write.id, .again, mayHaveExecuted: true)
            guard has(.noKeys) else { continue }
            let error = FeathersError(.unavailable, "Lost", execution: .mayHaveExecuted)
            fail(item, .unknown, error, mayHaveExecuted: true)
        }
        (calls, finds) = ([], [])
        for id in device.growths.keys { takeBack(id) }
        device.store.gap()
    }
}
