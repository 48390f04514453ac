import Feathers

/// A message, as the server stores it.
struct ChatMessage: Codable, Sendable, Identifiable {
    var id: ServiceID?
    var room: String
    var author: String
    var text: String
}
