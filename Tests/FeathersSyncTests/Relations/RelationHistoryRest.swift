import FeathersCore
import FeathersSupport
import Testing

@testable import FeathersSync
@testable import FeathersTesting

/// A history of related records at rest.
extension RelationHistory {
    func rest() async throws -> String? {
        note("rest")
        server.refusals.withLock { $0 = [:] }
        isHeld.update { $0 = false }
        transport.restore()
        let read = read
        let watchdog = Task {
            // Other tests may keep the machine busy.
            try await Task.sleep(for: .seconds(120))
            read.update { $0.isLate = true }
        }
        defer { watchdog.cancel() }
        guard let outbox = app.outbox else { return "no outbox" }
        let emptied = Task {
            while true {
                // Others wait for a creation that was refused.
                let state = try await outbox.wait { $0.entries.isEmpty || $0.entries.contains { $0.failure != nil } }
                guard let entry = state.entries.first(where: { $0.failure != nil }) else { return }
                try? await outbox.decide(.discard, for: entry.id)
            }
        }
        let late = Task {
            try await read.wait(until: \.isLate)
            emptied.cancel()
        }
        defer { late.cancel() }
        guard case .success = await emptied.result else {
            return "the outbox is not emptied: \(outbox.state.entries.map { "\($0.write.path) \($0.status)" })"
        }
        server.sendEvents(over: transport) { user }
        // A write of the previous user, or of a process that has ended, may still arrive.
        try await read.wait { [server, user, relations, traits] read in
            if read.isLate || read.failure != nil { return true }
            guard let snapshot = read.snapshot else { return false }
            return relations.isAtRest(snapshot, (try? server.graph(as: user)) ?? [], server.page, traits)
        }
        let expected = try server.graph(as: user)
        let result = read.current
        if let failure = result.failure { return failure }
        // A snapshot may have been right at first only because the user has signed out and in again.
        if !result.isLate || result.snapshot.map({ relations.isAtRest($0, expected, server.page, traits) }) ?? false {
            canRecover = true
            return nil
        }
        let shown =
            result.snapshot.map { relations.shown($0).map(\.description).joined(separator: "\n  ") } ?? "nothing"
        let wanted = expected.map { $0?.description ?? "undecodable" }.joined(separator: "\n  ")
        let state = result.snapshot.map {
            "\($0.source), more \($0.hasMore), pending \($0.hasPendingWrites), undecodable \($0.undecodableCount)"
        }
        return "shows at rest as \(user) from \(state ?? "nowhere")\n  \(shown)\nrather than\n  \(wanted)"
    }
}

extension HistoryRelations {
    fileprivate func isAtRest(
        _ snapshot: LiveSnapshot<Message>, _ expected: [RelationHistory.Shown?], _ page: Int?,
        _ traits: Set<RelationTrait>
    ) -> Bool {
        let first = min(page ?? .max, traits.contains(.growth) ? 3 : .max, expected.count)
        // Those that do not decode count too.
        let count = snapshot.count + snapshot.undecodableCount
        guard traits.contains(.growth) ? count >= first : count == first else { return false }
        guard snapshot.source == .server, !snapshot.hasPendingWrites, count <= expected.count,
            shown(snapshot) == expected.prefix(count).compactMap(\.self), snapshot.hasMore || count == expected.count,
            // Without a total, or with an estimate, only the next page tells.
            !snapshot.hasMore || count < expected.count || page == nil || snapshot.isTotalEstimated
        else { return false }
        return snapshot.allSatisfy { row in
            // A related record that does not decode is missing.
            (traits.contains(.undecodable)
                || row.hasLoaded(author) && row.hasLoaded(reactions) && row.hasLoaded(readers)
                    && (!traits.contains(.parts) || row.hasLoaded(latest))
                    && (!traits.contains(.parts) || page == nil || row.hasLoaded(self.count)))
                && row[author].map { $0.state == .confirmed } ?? true
                && (row[reactions] + row[latest]).allSatisfy { $0.state == .confirmed }
        }
    }

    /// The texts of all records that a snapshot shows.
    func texts(_ snapshot: LiveSnapshot<Message>) -> [String] {
        var texts: [String] = []
        for row in snapshot {
            texts.append(row.text)
            var people = row[readers] + (row[reactions] + row[latest]).compactMap { $0[by] }
            if let author = row[author] { people.append(author) }
            texts += people.map(\.name)
            if let team = row[author]?[User.team] { texts.append(team.title) }
        }
        return texts
    }

    fileprivate func shown(_ snapshot: LiveSnapshot<Message>) -> [RelationHistory.Shown] {
        func shown(_ reactions: [LiveRow<Reaction>]) -> [String] {
            reactions.map { "\($0.emoji) \($0[by]?.name ?? "nil")" }
        }
        return snapshot.map { row in
            RelationHistory.Shown(
                text: row.text, author: row[author]?.name, team: row[author]?[User.team]?.title,
                reactions: shown(row[reactions]), readers: row[readers].map(\.name), latest: shown(row[latest]),
                count: row[count])
        }
    }
}
