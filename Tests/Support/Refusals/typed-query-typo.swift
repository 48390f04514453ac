// expect: type 'Message.CodingKeys' has no member 'txet'
// article: TypedQueries.md
// mistake: A typo in a coding key of a query
import Feathers

struct Message: Codable, Queryable {
    var id: Int
    var text: String

    enum CodingKeys: String, CodingKey { case id, text }
}

func greetings(in messages: Service<Message>) async throws -> Page<Message> {
    // fix: try await messages.find(.where(.text, "Hi"))
    try await messages.find(.where(.txet, "Hi"))
}
