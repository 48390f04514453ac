// expect: reference to member 'txet' cannot be resolved without a contextual type
// article: TypedQueries.md
// mistake: A typo in a key of a typed query
import Feathers

struct Message: Codable, Queryable {
    var id: Int
    var text: String

    enum CodingKeys: String, CodingKey { case id, text }
}

func greetings(in messages: TypedService<Message>) async throws -> Paginated<Message> {
    // fix: try await messages.find(.where(.text, "Hi"))
    try await messages.find(.where(.txet, "Hi"))
}
