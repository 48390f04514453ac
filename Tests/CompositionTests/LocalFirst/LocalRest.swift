import Feathers
import FeathersCore
import Foundation

@testable import FeathersSync

/// A history at rest.
extension LocalHistory {
    /// The end of a history: each user comes to rest, and finds the same after a restart without a server.
    func end() async throws {
        for user in [user] + Self.users.filter({ $0 != user }) where report.violations.isEmpty && user != "nobody" {
            report.begin(.rest)
            if user != self.user {
                changeUser(to: user)
                await look()
            }
            try await rest()
        }
        guard report.violations.isEmpty else { return }
        if !writes.accepted.isEmpty { report.violate("\(writes.accepted.count) accepted writes were lost") }
        report.begin(.killOffline)
        await process.keep()
        try await kill(isOnline: false)
        await look()
        try compare(at: "after a restart without a server")
    }

    /// Everything comes to rest: every write is executed or discarded, every event heard, every result fetched.
    func rest() async throws {
        if user == "nobody" {
            changeUser()
            await look()
        }
        restore()
        await process.keep()
        for index in lists.indices where process.readers[index] == nil { process.open(index) }
        for _ in 0..<200 where report.violations.isEmpty {
            await look()
            while !late.isEmpty { executeLate() }
            let calls = process.calls
            for call in calls { if call.outcome == nil { execute(call, refusing: false) } }
            for call in process.calls {
                answer(call)
                await look()
            }
            if !outgoing.isEmpty { hear(outgoing.count) }
            for entry in entries where entry.failure != nil {
                // With a creation, others have gone.
                guard process.outbox.state.entries.contains(where: { $0.id == entry.id }) else { continue }
                try await decide(.discard, entry)
            }
            process.wakeAll()
            await look()
            if process.calls.isEmpty, outgoing.isEmpty, entries.isEmpty, !process.isFetching() { break }
        }
        guard report.violations.isEmpty else { return }
        let calls = process.calls.map(\.description)
        if !entries.isEmpty || !calls.isEmpty { report.violate("no rest: \(entries.count) writes, \(calls)") }
        try compare(at: "at rest")
        for (list, snapshot) in zip(lists, shown)
        where snapshot?.hasPendingWrites != false || snapshot?.source != .server {
            report.violate("at rest \(list) shows \(snapshot.map(Array.init) ?? [])")
        }
        if !has(.unkeyed), let mark = server.executions.first(where: { $0.value > 1 }) {
            report.violate("the write with the mark \(mark.key) was executed \(mark.value) times")
        }
    }

    /// Compares what is shown with what an app would show that fetches everything now.
    private func compare(at moment: String) throws {
        for (list, snapshot) in zip(lists, shown) {
            var request = list.request
            let records = snapshot.map { Array($0.records) } ?? []
            // A list that has grown shows any number of the first records.
            if has(.growth), let limit = request.json["$limit"]?.integer {
                request = request.limit(max(Int(limit), records.count))
            }
            let expected = try server.find(request, at: list.place, as: user)
            if records != expected { report.violate("\(moment) \(list) shows \(records) rather than \(expected)") }
        }
    }

    // MARK: The laws

    /// Waits until the app has dealt with a step, and compares what it shows with what it must show.
    func look() async {
        while true {
            if let motion = await process.settle() {
                return report.violate("the app has come to rest too early: \(motion)")
            }
            checkArrivals()
            let gets = process.calls.filter { $0.request.method == .get }
            for call in gets { answerGet(call) }
            if gets.isEmpty {
                let broken = brokenLaws()
                return await report.violate(broken + statesByID())
            }
        }
    }

    private func answerGet(_ call: HeldTransport.Call) {
        var (call, server) = (call, server)
        call.outcome = server.execute(call.request, as: call.user)
        process.held.answer(call)
    }
}
