import Feathers

/// Something worth writing down, as the server keeps it.
struct Note: Codable, Queryable {
    var id: Int?
    var text: String
    var book: String

    enum CodingKeys: String, CodingKey { case id, text, book }
}
