import Feathers
import Observation

/// What the view of a chat shows and does. It knows no SwiftUI, so that its tests run everywhere.
@MainActor @Observable
final class ChatModel {
    let room: String
    /// What is being written.
    var draft = ""
    /// Why the last message was not sent; nil where it was.
    private(set) var problem: String?
    private(set) var isSending = false
    private(set) var isOnline = false

    private let app: FeathersApp
    private let author: String
    private let service: TypedService<ChatMessage>
    private let newest: LiveQueryModel<ChatMessage>

    init(_ app: FeathersApp, room: String, author: String) {
        (self.app, self.room, self.author) = (app, room, author)
        service = app.service("messages", of: ChatMessage.self)
        newest = LiveQueryModel(service.live(.where("room", room).sorted(by: "id", .descending).limit(50)))
    }

    /// The newest messages, the last one last.
    var messages: [ChatMessage] { newest.records.reversed() }

    /// What stands above them.
    var title: String {
        if let error = newest.error { return "\(room) – \(Self.text(of: error))" }
        return isOnline ? room : "\(room) – connecting…"
    }

    var canSend: Bool { !draft.isEmpty && !isSending }

    /// Keeps the connection and everything shown, until the view goes.
    func run() async {
        do {
            try await withFeathersApp(app) { app in
                async let list: Void = newest.run()
                for await status in app.connectionStatusUpdates() {
                    if case .connected = status { isOnline = true } else { isOnline = false }
                }
                await list
            }
        } catch {
            problem = Self.text(of: error)
        }
        isOnline = false
    }

    /// Sends what is written; it stays where that fails. The message is shown when the server tells of it.
    func send() async {
        guard canSend else { return }
        isSending = true
        defer { isSending = false }
        do {
            try await service.create(ChatMessage(room: room, author: author, text: draft))
            (draft, problem) = ("", nil)
        } catch {
            problem = Self.text(of: error)
        }
    }

    /// An error in a user's words.
    private static func text(of error: any Error) -> String {
        switch error {
        case let error as FeathersError where error.execution == .mayHaveExecuted: "No answer came; look whether it is there"
        case FeathersError.Code.notAuthenticated: "Please sign in"
        case FeathersError.Code.unavailable, FeathersError.Code.timeout: "The server cannot be reached"
        case let error as FeathersError: error.message
        default: "Something went wrong"
        }
    }
}
