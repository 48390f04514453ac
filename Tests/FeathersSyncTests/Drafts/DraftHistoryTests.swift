import Feathers
import FeathersSupport
import FeathersTesting
import Testing

/// Random edits of a draft against random changes by others. The oracle is a merge of three dictionaries.
@Suite("A draft in random histories", .timeLimit(.minutes(10)))
struct DraftHistoryTests {
    private struct Card: Codable, Sendable, Equatable {
        var id = 7
        var a: Int?
        var b: Int?
        var c: Int?

        static let names = ["a", "b", "c"]

        subscript(name: String) -> Int? {
            get { name == "a" ? a : name == "b" ? b : c }
            set { if name == "a" { a = newValue } else if name == "b" { b = newValue } else { c = newValue } }
        }
    }

    /// What a draft must be, property by property.
    private struct Oracle {
        var seen: [String: Int] = [:]
        var mine: [String: Int] = [:]
        var theirs: [String: Int] = [:]

        var conflicts: [String] {
            Card.names.filter { theirs[$0] != seen[$0] && mine[$0] != theirs[$0] }
        }
        var changes: [String] { Card.names.filter { mine[$0] != theirs[$0] } }

        mutating func update(to record: [String: Int]) {
            for name in Card.names {
                if mine[name] == seen[name] {
                    (mine[name], seen[name]) = (record[name], record[name])
                } else if mine[name] == record[name] {
                    seen[name] = record[name]
                }
            }
            theirs = record
        }

        mutating func resolve(_ name: String, with side: DraftConflict.Side) {
            guard conflicts.contains(name) else { return }
            if side == .theirs { mine[name] = theirs[name] }
            seen[name] = theirs[name]
        }

        mutating func settle(on record: [String: Int]) { (seen, mine, theirs) = (record, record, record) }
    }

    private static func values(_ record: JSONObject) -> [String: Int] {
        var values: [String: Int] = [:]
        for name in Card.names { values[name] = record[name]?.integer.map { Int($0) } }
        return values
    }

    @Test("is what a merge of dictionaries is, and never overwrites what it did not change", arguments: 0..<300)
    func history(_ seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let tags = DraftServer.Tags.allCases[seed % 3]
        let server = DraftServer(tags, ["id": 7, "a": 0, "b": 0, "foreign": 0])
        var draft = try await server.app().service("cards", of: Card.self).draft(7)
        var oracle = Oracle()
        oracle.settle(on: Self.values(server.record))
        for step in 0..<30 {
            let name = Card.names.randomElement(using: &random) ?? "a"
            let value = Int.random(in: 0..<4, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3:
                draft.value[name] = value == 0 ? nil : value
                oracle.mine[name] = value == 0 ? nil : value
            case 3..<5:
                server.change([name: value == 0 ? .null : .integer(Int64(value)), "foreign": .integer(Int64(step))])
            case 5:
                var card = Card()
                for (name, value) in Self.values(server.record) { card[name] = value }
                try draft.update(to: card)
                oracle.update(to: Self.values(server.record))
            case 6:
                let side: DraftConflict.Side = Bool.random(using: &random) ? .mine : .theirs
                try draft.resolve(name, with: side)
                oracle.resolve(name, with: side)
            case 7:
                draft.discardChanges()
                oracle.settle(on: oracle.theirs)
            default: try await save(&draft, &oracle, server)
            }
            let (drafted, base) = (draft.value, draft.base)
            for name in Card.names {
                #expect(drafted[name] == oracle.mine[name] && base[name] == oracle.theirs[name], "step \(step)")
            }
            #expect(draft.conflicts.map(\.property) == oracle.conflicts, "step \(step)")
            #expect(draft.changedProperties.sorted() == oracle.changes, "step \(step)")
        }
    }

    private func save(_ draft: inout Draft<Card>, _ oracle: inout Oracle, _ server: DraftServer) async throws {
        let (record, count) = (server.record, server.patches.count)
        let isBlocked = !oracle.conflicts.isEmpty
        let wasClean = oracle.changes.isEmpty
        // Nothing changed: nothing is sent. Otherwise the newest record counts, however the draft hears of it.
        if !isBlocked, !wasClean { oracle.update(to: Self.values(record)) }
        if oracle.conflicts.isEmpty {
            try await draft.save()
            guard !wasClean else { return }
            var expected = record
            for name in oracle.changes { expected[name] = oracle.mine[name].map { .integer(Int64($0)) } ?? .null }
            #expect(server.record == expected)
            if oracle.changes.isEmpty { return }
            oracle.settle(on: Self.values(expected))
        } else {
            await #expect { try await draft.save() } throws: { FeathersError.Code.conflict ~= $0 }
            #expect(server.record == record && (server.tags == .strong || server.patches.count == count))
        }
    }
}
