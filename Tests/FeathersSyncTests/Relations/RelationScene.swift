import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersSync

struct Message: Codable, Sendable, Equatable, Queryable {
    var id: Int
    var text: String
    var authorID: Int?
    var readers: [Int]?

    enum CodingKeys: String, CodingKey { case id, text, authorID, readers }

    static let author = relation(to: User.self, at: "users", by: .authorID)
    static let embeddedAuthor = relation(to: User.self, at: "users", by: .authorID, embedded: "author")
    static let reactions = relation(toMany: Reaction.self, at: "reactions", by: .messageID)
    static let readers = relation(toMany: User.self, at: "users", byAll: .readers)
}

struct User: Codable, Sendable, Equatable, Queryable {
    var id: Int
    var name: String
    var teamID: Int?

    enum CodingKeys: String, CodingKey { case id, name, teamID }

    static let team = relation(to: Team.self, at: "teams", by: .teamID)
}

struct Team: Codable, Sendable, Equatable, Queryable {
    var id: Int
    var title: String

    enum CodingKeys: String, CodingKey { case id, title }
}

struct Reaction: Codable, Sendable, Equatable, Queryable {
    var id: Int
    var messageID: Int
    var emoji: String
    var userID: Int?

    enum CodingKeys: String, CodingKey { case id, messageID, emoji, userID }

    static let by = relation(to: User.self, at: "users", by: .userID)
}

/// Messages with authors and reactions, and what was asked of their services.
struct RelationScene: Sendable {
    let app = FeathersApp()
    /// The paths of the services whose `find` was called.
    let finds = Locked<[String]>([])
    /// The queries with which `find` was called.
    let queries = Locked<[Query<JSONValue>]>([])

    /// - Parameter page: The maximum number of records on a page; nil if the services do not paginate.
    init(page: Int? = nil) async throws {
        // A busy machine is no silent server.
        app.relationLimits.responseDelay = .seconds(3600)
        let records: [String: [JSONObject]] = [
            "messages": [
                ["id": 1, "text": "a", "authorID": 1], ["id": 2, "text": "b", "authorID": 2],
                ["id": 3, "text": "c", "authorID": 1],
            ],
            "users": [
                ["id": 1, "name": "Ada", "teamID": 1], ["id": 2, "name": "Bob", "teamID": 2], ["id": 3, "name": "Cy"],
            ],
            "teams": [["id": 1, "title": "Red"], ["id": 2, "title": "Blue"]],
            "reactions": [
                ["id": 1, "messageID": 1, "emoji": "+", "userID": 2],
                ["id": 2, "messageID": 1, "emoji": "-", "userID": 3],
                ["id": 3, "messageID": 3, "emoji": "!", "userID": 1],
            ],
        ]
        for (path, records) in records {
            let pagination = page.map { Pagination(default: $0, max: $0) }
            try await app.use(MemoryService(startID: 10, pagination: pagination, records: records), at: path)
            await app.service(path).use(
                hooks:
                    Hooks(before: [
                        "find": [
                            { [finds, queries] context in
                                finds.withLock { $0.append(path) }
                                queries.withLock { $0.append(context.params.query) }
                            }
                        ]
                    ]))
        }
    }

    var messages: Service<Message> { app.service("messages", of: Message.self) }
    var users: Service<User> { app.service("users", of: User.self) }
    var reactions: Service<Reaction> { app.service("reactions", of: Reaction.self) }
}
