import Feathers
import Foundation

// The samples of the article about FeathersJS 6, each one as it stands there: `ReadmeTests` compares them.

private nonisolated struct Message: Codable, Sendable { var text: String }
private nonisolated struct Token: Codable, Sendable {
    var text: String
    var isLast: Bool
}

private func events(_ url: URL, show: @Sendable (Message) -> Void) async throws {
    let app = FeathersApp(transport: .feathers6(url))
    try await withFeathersApp(app) { app in
        for await message in app.service("messages", of: Message.self).events(.created) {
            show(message)
        }
    }
}

private func options(_ url: URL) -> FeathersApp {
    let app = FeathersApp(
        transport: .feathers6(url) { options in
            options.path = "events"
            options.query = ["room": "blue"]
            options.reconnection = ReconnectionPolicy(maximumDelay: .seconds(30))
        })
    return app
}

private func tokens(_ app: FeathersApp) async throws -> String {
    var text = ""
    let chat = app.service("chat")
    for try await token in chat.stream(.create, with: ["prompt": "Hi"], as: Token.self) {
        text += token.text
    }
    let tokens = chat.stream(
        .create, with: ["prompt": "Hi"], as: Token.self, endingWith: { $0.isLast })
    for try await token in tokens {
        text += token.text
    }
    return text
}

actor Countdown: ServiceProtocol {
    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        let numbers = AsyncThrowingStream<Int, any Error> { continuation in
            for number in [3, 2, 1] { continuation.yield(number) }
            continuation.finish()
        }
        return ServiceResponse(stream: numbers)
    }
}

private func uploads(_ uploads: Service<JSONValue>, _ video: URL, _ photo: URL, _ recording: AsyncStream<Data>)
    async throws
{
    try await uploads.create(file: video, contentType: .mp4) { print($0.fraction ?? 0) }
    try await uploads.upload(.multipart([.field("album", "7"), .file("photo", at: photo)]))
    try await uploads.create(stream: recording)
}

private func eventSource(_ app: FeathersApp) async throws -> [Note] {
    var notes: [Note] = []
    for try await note in app.eventSource("notifications", as: Note.self) {
        notes.append(note)
    }
    return notes
}
