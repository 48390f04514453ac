import Feathers

nonisolated struct Message: Codable, Sendable {
    var id: Int?
    var text: String
}

@main
struct Hello {
    static func main() async throws {
        let app = FeathersApp()
        try await app.use(MemoryService(startID: 1), at: "messages")
        let messages = app.service("messages", of: Message.self)

        // Receives events from now on.
        let created = messages.events(.created)
        let sent = try await messages.create(Message(text: "Hello, Feathers"))
        print("created message \(sent.id ?? 0)")
        print("received: \(try await created.first().text)")

        for message in try await messages.find(.where("text", .notEquals("")).limit(10)) {
            print("found: \(message.text)")
        }
    }
}
