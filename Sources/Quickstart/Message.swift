import Feathers

/// A message as the service stores it.
struct Message: Codable, Sendable {
    var id: ServiceID?
    var room: String
    var author: String
    var text: String
    /// When it was sent; a hook writes it.
    var sentAt: String?
    var edited: Bool?
}

extension Message: CustomStringConvertible {
    var description: String { "#\(id.map(String.init(describing:)) ?? "?") \(author): \(text)\(edited == true ? " (edited)" : "")" }
}
