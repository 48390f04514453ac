// expect: missing argument label 'query:' in call
// article: Queries.md
import Feathers

func removeDrafts(in messages: Service<JSONValue>) async throws {
    // fix: try await messages.removeAll(query: .where("isDraft", true))
    try await messages.removeAll(.where("isDraft", true))
}
