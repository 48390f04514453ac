// expect: main actor-isolated conformance of 'Message' to 'Decodable' cannot satisfy conformance requirement for a 'Sendable' type parameter
// article: GettingStarted.md
// mistake: A model in an app whose declarations are isolated to the main actor by default, as in new Xcode projects
// code: struct Message: Codable, Sendable
// flags: -default-isolation MainActor
import Feathers

// fix: nonisolated struct Message: Codable, Sendable {
struct Message: Codable, Sendable {
    var text: String
}

func greetings() async throws -> Page<Message> {
    try await FeathersApp().service("messages", of: Message.self).find()
}
