// expect: type 'Message.CodingKeys' has no member 'txet'
// article: TypedQueries.md
import Feathers

struct Message: Codable, Queryable {
    var id: Int
    var text: String

    enum CodingKeys: String, CodingKey { case id, text }
}

// fix: let greetings = Query<Message>.where(.text, "Hi")
let greetings = Query<Message>.where(.txet, "Hi")
