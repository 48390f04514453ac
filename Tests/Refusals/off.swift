// expect: value of type 'UntypedService' has no member 'off'
// article: RealTime.md
import Feathers

func firstMessage(of messages: UntypedService) async throws -> JSONValue {
    let created = messages.events(.created)
    let message = try await created.first()
    // fix: _ = created
    messages.off("created")
    return message
}
