// expect: value of type 'Service<JSONValue>' has no member 'off'
// article: RealTime.md
import Feathers

func firstMessage(of messages: Service<JSONValue>) async throws -> JSONValue {
    let created = messages.events(.created)
    let message = try await created.first()
    // fix: _ = created
    messages.off("created")
    return message
}
