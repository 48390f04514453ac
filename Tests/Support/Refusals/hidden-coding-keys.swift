// expect: 'text' is inaccessible due to 'private' protection level
// article: TypedQueries.md
// mistake: A query with keys for a model without coding keys of its own
// code: try await messages.find(.where(.text, "Hi"))
import Feathers

struct Message: Codable, Queryable {
    var id: Int
    // fix: var text: String; enum CodingKeys: String, CodingKey { case id, text }
    var text: String
}

func greetings(in messages: Service<Message>) async throws -> Page<Message> {
    try await messages.find(.where(.text, "Hi"))
}
