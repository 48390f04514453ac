import Feathers
import Foundation

// The samples of the article about related records, each one as it stands there: `ReadmeTests` compares them.

struct Post: Codable, Queryable {
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

    static let team = relation(to: Post.self, at: "teams", by: .teamID)
}

struct Reaction: Codable, Queryable {
    var id: Int
    var postID: Int
    var userID: Int

    enum CodingKeys: String, CodingKey { case id, postID, userID }

    static let by = relation(to: Writer.self, at: "users", by: .userID)
}

extension Post {
    static let author = relation(to: Writer.self, at: "users", by: .authorID)
    static let reactions = relation(toMany: Reaction.self, at: "reactions", by: .postID)
}

func follow(
    _ posts: Service<Post>, show: (Post, String?, [LiveRow<Reaction>]) -> Void
) async throws {
    let newest = posts.live(.sorted(by: .createdAt, .descending).limit(30))
        .including(Post.author, Post.reactions)
    for try await snapshot in newest.snapshots {
        for row in snapshot {
            show(row.record, row[Post.author]?.name, row[Post.reactions])
        }
    }
}

private func nested(_ posts: Service<Post>) {
    let deep = posts.live().including(
        Post.author.including(Writer.team), Post.reactions.including(Reaction.by))
    _ = deep
}

private func grow(_ newest: LiveQuery<Post>) async throws {
    try await newest.loadMore()
    try await newest.refresh()
}

private func middle(
    _ posts: Service<Post>, _ found: Post, _ show: (LiveSnapshot<Post>, Bool) -> Void
) async throws {
    let around = posts.live(.sorted(by: .createdAt)).window(around: found.id, of: 60)
    for try await snapshot in around.snapshots {
        show(snapshot, snapshot.hasMoreBefore)
    }
    try await around.loadMore(at: .start)
}
