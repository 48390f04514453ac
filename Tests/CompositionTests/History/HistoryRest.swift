import Feathers
import FeathersCore
import FeathersSupport

@testable import FeathersSync
@testable import FeathersTesting

/// Live queries in a history, and what must hold when everything has come to rest.
extension History {
    func startLive() {
        guard process.probes.count < 3 else { return }
        let queries: [Query<JSONValue>] = [
            Query(), ["text": "text 1"], .sorted(by: "text"), .sorted(by: "id", .descending).limit(3),
        ]
        let query = pick(queries)
        let path = pick(["notes", "news"])
        report.note("\(path) \(query.json)")
        process.probes.append(LiveProbe(app, path, query, process.identities, clock: world.clock))
    }

    func stopLive() async {
        guard !process.probes.isEmpty else { return }
        let probe = process.probes.remove(at: Int.random(in: process.probes.indices, using: &random))
        await probe.stop()
        for violation in probe.state.current.violations { report.violate(violation) }
    }

    /// Looks at live queries at any moment; what they may show is checked when it comes.
    func look() {
        for probe in process.probes where probe.state.current.isOver {
            if probe.state.current.hasResult, let failure = probe.state.current.failure {
                report.violate("a live query ended with \(failure)")
            }
        }
        process.probes.removeAll { $0.state.current.isOver }
        guard world.traits.contains(.growth) else { return }
        for probe in process.probes where probe.query.json["$limit"] != nil && chance(1, in: 2) {
            probe.grow(by: Int.random(in: 1...3, using: &random))
        }
    }

    /// Lets everything come to rest, and compares.
    func rest() async throws {
        if isOnline { try await settle() } else { try await restore() }
        look()
        let clock = world.clock
        let pump = Task {
            while true {
                try await clock.waitForSleepers(1)
                clock.advance(by: .seconds(60))
            }
        }
        defer { pump.cancel() }
        let outbox = process.outbox
        outbox.retryNow()
        let isDrained = await holds(within: .seconds(300)) {
            for await state in outbox.stateUpdates() {
                // What is still being sent for a user who has left may be everybody's again.
                let isSending = outbox.withState { $0.queue.items.values.contains(where: \.stage.isSending) }
                if state.entries.isEmpty && !isSending || state.activity == .waitingForSignIn { return }
            }
        }
        if !isDrained {
            report.violate(
                "the outbox does not come to rest: \(outbox.state.activity), \(outbox.state.entries.map(\.status))")
        }
        checkQueued()
        let user = app.identity?.name
        // What waits for a sign-in is shown, and the server does not know it yet.
        guard outbox.state.entries.isEmpty else { return look() }
        for probe in process.probes {
            let (path, query, server) = (probe.path, probe.query, server)
            // As a list sends it: records that sort the same are in the order of their ids.
            var request =
                query.json["$sort"]?["id"] != nil || query.json["$sort"] == nil ? query : query.sorted(by: "id")
            request.json["$limit"] = nil
            let isProtected = ModelServer.protected.contains(path)
            let all =
                isProtected && user == nil ? [] : server.records(of: path, request, told: user).comparable(query)
            let limit = query.json["$limit"]?.integer.map { Int($0) } ?? .max
            let mayGrow = world.traits.contains(.growth)
            @Sendable func expected(_ shown: [JSONValue]?) -> [JSONValue] {
                Array(all.prefix(mayGrow && limit < .max ? max(limit, shown?.count ?? 0) : limit))
            }
            let isEqual = await holds(within: .seconds(300)) {
                try await probe.state.wait { state in
                    let shown = state.records?.comparable(query)
                    return state.isOver || shown != nil && shown == expected(shown)
                }
            }
            if isEqual { continue }
            let shown = probe.state.current.records?.comparable(query)
            report.violate(
                "a live query of \(path) \(query.json) shows \(shown ?? ["nothing yet"]) "
                    + "rather than \(expected(shown))")
        }
        look()
    }
}

extension History {
    /// Each queued write is still there, was executed, or was refused and given up.
    private func checkQueued() {
        let waiting = process.outbox.withState { Set($0.queue.items.keys) }
        let (answered, givenUp) = (server.state.current.answered, world.givenUp.withLock { $0 })
        for (id, key) in world.queued.withLock({ $0 })
        where !waiting.contains(id) && answered[key] == nil && !givenUp.contains(id) {
            report.violate("a queued write was lost")
        }
    }
}

extension [JSONValue] {
    /// The records without whom they were told to; in the order of their ids unless the query sorts, since no order is
    /// promised then.
    fileprivate func comparable(_ query: Query<JSONValue>) -> [JSONValue] {
        let records = map(\.untold)
        guard query.json["$sort"] == nil else { return records }
        return records.sorted { "\($0["id"] ?? .null)" < "\($1["id"] ?? .null)" }
    }
}

extension JSONValue {
    /// The record without whom it was told to.
    fileprivate var untold: JSONValue {
        var record = self
        record["told"] = nil
        return record
    }
}
