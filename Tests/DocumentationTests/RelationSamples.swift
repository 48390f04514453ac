import Feathers
import Foundation

// The samples of the article about related records, each one as it stands there: `ReadmeTests` compares them.

struct Entry: Codable, Queryable {
    var id: Int
    var text: String
    var authorID: Int
    var createdAt: Date

    enum CodingKeys: String, CodingKey { case id, text, authorID, createdAt }
}

struct Writer: Codable, Queryable {
    var id: Int
    var name: String
    var teamID: Int?

    enum CodingKeys: String, CodingKey { case id, name, teamID }

    static let team = relation(to: Entry.self, at: "teams", by: .teamID)
}

struct Reaction: Codable, Queryable {
    var id: Int
    var entryID: Int
    var userID: Int
    var emoji: String

    enum CodingKeys: String, CodingKey { case id, entryID, userID, emoji }

    static let by = relation(to: Writer.self, at: "users", by: .userID)
}

extension Entry {
    static let author = relation(to: Writer.self, at: "users", by: .authorID)
    static let reactions = relation(toMany: Reaction.self, at: "reactions", by: .entryID)
}

func follow(
    _ entries: Service<Entry>, show: (Entry, String?, [LiveRow<Reaction>]) -> Void
) async throws {
    let newest = entries.live(.sorted(by: .createdAt, .descending).limit(30))
        .including(Entry.author, Entry.reactions)
    for try await snapshot in newest.snapshots {
        for row in snapshot {
            show(row.record, row[Entry.author]?.name, row[Entry.reactions])
        }
    }
}

extension Entry {
    static let hearts = reactions.count(where: .where(.emoji, "heart"))
    static let newest = reactions.latest(1).including(Reaction.by)
}

func summarize(
    _ entries: Service<Entry>, show: (Entry, Int?, String?) -> Void
) async throws {
    let live = entries.live(.sorted(by: .createdAt).limit(30))
        .including(Entry.hearts, Entry.newest)
    for try await snapshot in live.snapshots {
        for row in snapshot {
            let newest = row[Entry.newest].first
            show(row.record, row[Entry.hearts], newest?[Reaction.by]?.name)
        }
    }
}

private func nested(_ entries: Service<Entry>) {
    let deep = entries.live().including(
        Entry.author.including(Writer.team), Entry.reactions.including(Reaction.by))
    _ = deep
}

private func grow(_ newest: LiveQuery<Entry>) async throws {
    try await newest.loadMore()
    try await newest.refresh()
}

private func middle(
    _ entries: Service<Entry>, _ found: Entry, _ show: (LiveSnapshot<Entry>, Bool) -> Void
) async throws {
    let around = entries.live(.sorted(by: .createdAt)).window(around: found.id, of: 60)
    for try await snapshot in around.snapshots {
        show(snapshot, snapshot.hasMoreBefore)
    }
    try await around.loadMore(at: .start)
}
