import Feathers

/// A message, as stored on the server.
nonisolated struct ChatMessage: Codable, Hashable, Sendable {
    var id: ServiceID?
    var room: String
    var author: String
    var text: String
}
