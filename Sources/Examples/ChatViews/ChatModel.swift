import Feathers
import Observation

/// The state and the actions of a chat view. It does not depend on SwiftUI, so its tests run on every platform.
@MainActor @Observable
final class ChatModel {
    let room: String
    /// The message being written.
    var draft = ""
    /// Why the last message was not sent; nil if it was sent.
    private(set) var problem: String?
    private(set) var isSending = false
    private(set) var isOnline = false

    private let app: FeathersApp
    private let author: String
    private let service: Service<ChatMessage>
    private let newest: LiveQueryModel<ChatMessage>

    init(_ app: FeathersApp, room: String, author: String) {
        (self.app, self.room, self.author) = (app, room, author)
        service = app.service("messages", of: ChatMessage.self)
        newest = LiveQueryModel(service.live(.where("room", room).sorted(by: "id", .descending).limit(50)))
    }

    /// The newest messages, with the latest one last.
    var messages: [ChatMessage] { newest.records.reversed() }

    /// The title above the messages.
    var title: String {
        if let error = newest.error { return "\(room) – \(Self.text(of: error))" }
        return isOnline ? room : "\(room) – connecting…"
    }

    var canSend: Bool { !draft.isEmpty && !isSending }

    /// Keeps the connection open and the messages current, until the view disappears.
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

    /// Sends the draft, and keeps it if that fails. The message is shown when its event arrives.
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

    /// Returns a description of an error for users.
    private static func text(of error: any Error) -> String {
        switch error {
        case let error as FeathersError where error.execution == .mayHaveExecuted:
            "No response arrived. Check whether the message was sent"
        case FeathersError.Code.notAuthenticated: "Please sign in"
        case FeathersError.Code.unavailable, FeathersError.Code.timeout: "The server cannot be reached"
        case let error as FeathersError: error.message
        default: "Something went wrong"
        }
    }
}
