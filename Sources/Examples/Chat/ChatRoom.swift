import ExampleProgram
import Feathers

/// A chat room that a user has joined. Shows its messages, and sends the lines that are typed.
struct ChatRoom: Sendable {
    let app: FeathersApp
    let name: String
    /// The name of the signed-in user, as shown to others.
    let author: String
    /// Shows a line.
    let show: @Sendable (String) -> Void
    private let messages: Service<ChatMessage>

    /// The number of messages to show on joining, and again after a lost connection.
    private static let recent = 20

    /// Signs in and joins a room.
    /// - Throws: ``FeathersError/Code/notAuthenticated`` if the server does not accept the user or the password.
    init(
        _ name: String, of app: FeathersApp, email: String, password: String, show: @escaping @Sendable (String) -> Void
    ) async throws {
        let result = try await app.authenticate(.local(email: email, password: password))
        self.app = app
        self.name = name
        author = result.user?["name"]?.string ?? email
        messages = app.service("messages", of: ChatMessage.self)
        self.show = show
    }

    /// Shows messages and sends each line, until there are no more lines.
    /// - Throws: The error if messages cannot be received.
    func run(saying lines: some AsyncSequence<String, Never> & Sendable) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await listen() }
            group.addTask { await watchConnection() }
            group.addTask { for await line in lines where !line.isEmpty { await say(line) } }
            // Listening and watching end only with the lines, or with an error.
            try await group.next()
            group.cancelAll()
        }
    }

    private func say(_ text: String) async {
        // If there is no connection, a call waits for one.
        if case .connected? = app.connectionStatus {} else { notice("Waiting for the connection to send: \(text)") }
        do {
            // The message is shown when its event arrives, as for everyone else.
            try await messages.create(ChatMessage(room: name, author: author, text: text))
        } catch {
            problem("Not sent: \(text) (\(error))")
        }
    }

    private func listen() async throws {
        // Listens before fetching, so that nothing is missed in between. A message that arrives both ways is shown
        // once.
        let deliveries = messages.deliveries([.created])
        var shown: [ChatMessage] = []
        try await showRecent(except: &shown)
        for await delivery in deliveries {
            switch delivery {
            case .event(let change): if change.record.room == name { show(change.record, except: &shown) }
            case .gap(let gap):
                // An event that is not a chat message does not belong to this room.
                if case .undecodable = gap.reason { continue }
                do {
                    try await showRecent(except: &shown)
                } catch is CancellationError {
                    return
                } catch {
                    problem("Messages may be missing here: \(error)")
                }
            }
        }
    }

    private func showRecent(except shown: inout [ChatMessage]) async throws {
        let newestFirst = try await messages.find(.where("room", name).sorted(by: "id", .descending).limit(Self.recent))
        for message in newestFirst.reversed() { show(message, except: &shown) }
    }

    private func show(_ message: ChatMessage, except shown: inout [ChatMessage]) {
        // Compares whole messages, because a server that restarts without messages also starts counting their ids
        // again.
        guard message.id != nil, !shown.contains(message) else { return }
        shown.append(message)
        if shown.count > 4 * Self.recent { shown.removeFirst() }
        let author = ExampleProgram.styled(ExampleProgram.printable(message.author), .bold)
        show("\(author): \(ExampleProgram.printable(message.text))")
    }

    /// Reports when the connection is lost and when it is restored.
    private func watchConnection() async {
        var isLost = false
        for await status in app.connectionStatusUpdates() {
            switch status {
            case .waiting where !isLost:
                isLost = true
                notice("The connection was lost. Reconnecting…")
            case .connected where isLost:
                isLost = false
                notice("Connected again")
            case .closed(let reason): notice("The connection is closed: \(reason)")
            default: break
            }
        }
    }

    private func notice(_ text: String) { show(ExampleProgram.styled("* \(ExampleProgram.printable(text))", .dim)) }
    private func problem(_ text: String) { show(ExampleProgram.styled("! \(ExampleProgram.printable(text))", .red)) }
}
