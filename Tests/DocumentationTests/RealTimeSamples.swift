import Feathers
import Foundation

// The samples of the article about real time, each one as it stands there: `ReadmeTests` compares them.

private nonisolated struct Message: Codable, Sendable {
    var id: Int?
    var text: String
}

/// - Returns: the app, once it has lived.
func livesWithConnection(_ url: URL) async throws -> FeathersApp {
    let app = FeathersApp(transport: .socketIO(url))
    try await withFeathersApp(app) { app in
        let messages = app.service("messages", of: Message.self)
        let created = messages.events(.created)
        try await messages.create(Message(text: "Hi"))
        print(try await created.first().text)
    }
    return app
}

func connectsByHand(_ app: FeathersApp) async throws {
    try await app.connect()
    try await app.service("messages").create(["text": "Hi"])
    await app.disconnect()
}

func connectionOptions(_ url: URL) -> SocketIOTransport {
    let transport = SocketIOTransport.socketIO(url) { options in
        options.transports = [.webSocket]
        options.callTimeout = .seconds(30)
        options.offlineCalls = .wait(limit: 100)
        options.reconnection = ReconnectionPolicy(
            initialDelay: .milliseconds(500), maximumDelay: .seconds(30))
        options.headers = { ["X-Client": "example"] }
    }
    return transport
}

func tellsStatus(_ app: FeathersApp) async {
    for await status in app.connectionStatusUpdates() {
        switch status {
        case .connected: print("online")
        case .waiting(_, let delay, let reason): print("\(reason), trying again in \(delay)")
        case .closed(let reason): print("closed: \(reason)")
        default: print("connecting…")
        }
    }
}

nonisolated struct Note: Codable, Sendable {
    var id: Int
    var text: String
}

nonisolated struct Typing: Codable, Sendable {
    var user: String
}

/// Streams of events, all of them listening.
struct Listening {
    var changes: AsyncStream<ServiceChange<Note>>
    var created: AsyncStream<Note>
    var typing: AsyncStream<Typing>
    var everything: AsyncStream<ServiceEvent>
}

func listens(_ messages: Service<Note>) -> Listening {
    let changes = messages.changes()
    let created = messages.events(.created)
    let typing = messages.events("typing", as: Typing.self)
    let everything = messages.events(nil, bufferingNewest: 100)
    return Listening(changes: changes, created: created, typing: typing, everything: everything)
}

func keepsRecords(_ changes: AsyncStream<ServiceChange<Note>>, _ show: ([Int: Note]) -> Void) async {
    var list: [Int: Note] = [:]
    for await change in changes {
        switch change {
        case .created(let message), .updated(let message), .patched(let message):
            list[message.id] = message
        case .removed(let message): list[message.id] = nil
        }
        show(list)
    }
}

func hears(_ everything: AsyncStream<ServiceEvent>) async {
    for await event in everything {
        print("\(event.name) of \(event.path)")
        if event.name == .removed { break }
    }
}

func keepsList<Message: Codable>(_ messages: Service<Message>, _ show: ([Message]) -> Void) async throws {
    let deliveries = messages.deliveries([.created])
    var list = try await messages.find().data
    show(list)
    for await delivery in deliveries {
        switch delivery {
        case .event(let change): list.append(change.record)
        case .gap: list = try await messages.find().data
        }
        show(list)
    }
}

func rawEvents(_ transport: SocketIOTransport) async {
    for await event in transport.events() {
        print(event.name, event.arguments.count)
        event.acknowledgement?("thanks")
    }
}
