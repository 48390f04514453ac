import Feathers

/// A message, as stored on the server.
struct ChatMessage: Codable, Queryable, Identifiable {
    var id: ServiceID?
    var room: String
    var authorID: ServiceID
    var text: String

    enum CodingKeys: String, CodingKey { case id, room, authorID, text }

    static let author = relation(to: ChatUser.self, at: "users", by: .authorID)
}

/// Who writes messages.
nonisolated struct ChatUser: Codable, Sendable {
    var id: ServiceID
    var name: String?
}
