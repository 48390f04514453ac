import Feathers

/// What somebody said, as the server keeps it.
struct ChatMessage: Codable, Sendable {
    var id: ServiceID?
    var room: String
    var author: String
    var text: String
}
