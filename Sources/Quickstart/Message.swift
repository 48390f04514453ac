import Feathers

/// A message as the service stores it.
nonisolated struct Message: Codable, Sendable {
    var id: ServiceID?
    var room: String
    var author: String
    var text: String
    /// The date on which the message was sent, set by a hook.
    var sentAt: String?
    var edited: Bool?
}

extension Message: CustomStringConvertible {
    var description: String {
        "#\(id.map(String.init(describing:)) ?? "?") \(author): \(text)\(edited == true ? " (edited)" : "")"
    }
}
