import Feathers

/// Something worth writing down, as the server keeps it.
struct Note: Codable, Sendable {
    var id: Int?
    var text: String
    var book: String
}
