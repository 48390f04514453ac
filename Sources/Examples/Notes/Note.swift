import Feathers

/// A note, as stored on the server.
struct Note: Codable, Queryable {
    var id: Int?
    var text: String
    var book: String

    enum CodingKeys: String, CodingKey { case id, text, book }
}
