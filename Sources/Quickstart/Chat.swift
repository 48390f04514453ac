import Feathers
import Foundation

/// A tour of hooks, events, the methods, and two caught errors.
struct Chat {
    let app: FeathersApp
    let screen: Screen
    /// Distinguishes this run's messages from those of other runs on the same server.
    private let room = "quickstart-\(UUID().uuidString.prefix(8).lowercased())"

    init(app: FeathersApp, screen: Screen) { (self.app, self.screen) = (app, screen) }

    func run() async throws {
        let messages = app.service("messages", of: Message.self)
        let durations = Durations()
        await addHooks(to: messages, durations)

        // Receives events from now on. The events are read while the calls below run.
        let events = messages.events()
        async let heard = read(events, count: 6)

        let first = try await messages.create(Message(room: room, author: "Ada", text: "Hello, Feathers"))
        let second = try await messages.create(Message(room: room, author: "Grace", text: "Hello, Ada"))
        let third = try await messages.create(Message(room: room, author: "Ada", text: "Shall we?"))
        for message in [first, second, third] { screen.step("create", message.description) }

        let byAda = try await messages.find(
            .where("room", room).where("author", "Ada").sorted(by: "id", .descending).limit(10))
        screen.step("find", "\(byAda.total ?? byAda.count) by Ada: \(byAda.map(\.text).joined(separator: " · "))")

        let patched = try await messages.patch(id(of: second), with: ["text": "Hello, Ada!", "edited": true])
        screen.step("patch", patched.description)

        let removed = try await messages.remove(id(of: third))
        screen.step("remove", removed?.description ?? "")

        try await showErrors(messages, missing: id(of: third))
        try await messages.remove(id(of: first))

        screen.line("")
        for event in await heard { screen.step("event", "\(event.name) #\(event.data["id"] ?? .null)") }
        // Leaves the server as it was before.
        try await messages.remove(id(of: second))
        screen.line("")
        screen.step("took", durations.summary)
    }

    private func addHooks(to messages: Service<Message>, _ durations: Durations) async {
        await messages.use(hooks: .logging { durations.add($0) })
        await messages.use(
            hooks: .validating(.create) { data in
                guard data["text"]?.string?.isEmpty == false else {
                    throw FeathersError(.badRequest, "A message needs text", errors: ["text": "must not be empty"])
                }
            })
        await messages.use(hooks: .setting("sentAt", on: .create) { _ in .string(Date.now.formatted(.iso8601)) })
        screen.step("hooks", "validate text, stamp sentAt, measure durations")
    }

    private func showErrors(_ messages: Service<Message>, missing id: ServiceID) async throws {
        do {
            try await messages.create(Message(room: room, author: "Eve", text: ""))
        } catch let error as FeathersError where error.code == .badRequest {
            screen.step("caught", "\(error.name): \(error.message), \(error.errors ?? .null)")
        }
        do {
            _ = try await messages.get(id)
        } catch let error as FeathersError where error.code == .notFound {
            screen.step("caught", "\(error.name): \(error.message)")
        }
    }

    private func read(_ events: AsyncStream<ServiceEvent>, count: Int) async -> [ServiceEvent] {
        var heard: [ServiceEvent] = []
        for await event in events where event.data["room"]?.string == room {
            heard.append(event)
            if heard.count == count { break }
        }
        return heard
    }

    private func id(of message: Message) throws -> ServiceID {
        guard let id = message.id else {
            throw FeathersError(.generalError, "The service returned a message without an id")
        }
        return id
    }
}
