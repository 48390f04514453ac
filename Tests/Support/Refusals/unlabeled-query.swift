// expect: missing argument label 'query:' in call
// article: Queries.md
// mistake: A query without its label
import Feathers

func text(of id: Int, in messages: Service<JSONValue>) async throws -> JSONValue {
    // fix: try await messages.get(id, query: .selecting("text"))
    try await messages.get(id, .selecting("text"))
}
