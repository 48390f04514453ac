import Feathers

/// A message, as stored on the server.
struct ChatMessage: Codable, Queryable, Identifiable {
    var id: ServiceID?
    var room: String
    var authorID: ServiceID
    var text: String
    /// Whether anyone but the author has seen it.
    var isRead: Bool?

    enum CodingKeys: String, CodingKey { case id, room, authorID, text, isRead }

    static let author = relation(to: ChatUser.self, at: "users", by: .authorID)
}

/// Who writes messages.
nonisolated struct ChatUser: Codable, Sendable {
    var id: ServiceID
    var name: String?
}

/// A channel, whose id is the room of its messages.
struct ChatChannel: Codable, Queryable, Identifiable {
    var id: String

    enum CodingKeys: String, CodingKey { case id }

    private static let messages = relation(toMany: ChatMessage.self, at: "messages", by: .room)
    static let last = messages.latest(1).including(ChatMessage.author)

    /// The number of messages of others that no one has seen.
    static func unread(by user: ServiceID) -> Relation<ChatChannel, Int?> {
        messages.count(where: .where(.isRead, .notEquals(true)).where(.authorID, .notEquals(user)))
    }
}
