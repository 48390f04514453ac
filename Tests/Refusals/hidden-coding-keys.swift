// expect: 'text' is inaccessible due to 'private' protection level
// article: TypedQueries.md
// mistake: A typed query for a model without coding keys of its own
// code: try await messages.find(.where(.text, "Hi"))
import Feathers

struct Message: Codable, Queryable {
    var id: Int
    // fix: var text: String; enum CodingKeys: String, CodingKey { case id, text }
    var text: String
}

func greetings(in messages: TypedService<Message>) async throws -> Paginated<Message> {
    try await messages.find(.where(.text, "Hi"))
}
