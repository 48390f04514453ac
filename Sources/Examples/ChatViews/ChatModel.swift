import Feathers
import Foundation
import Observation

/// The state and the actions of a chat's views. It does not depend on SwiftUI, so its tests run on every platform.
@MainActor @Observable
final class ChatModel {
    /// The open channel.
    private(set) var room: String
    let session: SessionModel<ChatUser>
    let connection: ConnectionModel
    let outbox: OutboxModel
    var email = ""
    var password = ""
    /// The message being written in the open channel.
    var draft: String {
        get { drafts[room] ?? "" }
        set { drafts[room] = newValue }
    }
    /// Why the last message could not be stored, or the app does not run; nil if there was no failure.
    private(set) var problem: String?

    private let app: FeathersApp
    private let service: Service<ChatMessage>
    private let newest: LiveQueryModel<ChatMessage>
    private var list: LiveQueryModel<ChatChannel>?
    private var drafts: [String: String] = [:]

    /// Creates a model. The app needs authentication and a local store.
    init(_ app: FeathersApp, room: String = "lobby") {
        (self.app, self.room) = (app, room)
        (session, connection, outbox) = (SessionModel(app, of: ChatUser.self), ConnectionModel(app), OutboxModel(app))
        service = app.service("messages", of: ChatMessage.self)
        newest = LiveQueryModel(service.newest(in: room))
    }

    /// Returns an app that signs in, and that shows and accepts messages without a connection too.
    static func app(
        _ transport: any Transport, in folder: URL, tokens: any TokenStorage = InMemoryTokenStorage()
    ) async throws -> FeathersApp {
        let app = FeathersApp(transport: transport)
        try app.use(authentication: AuthenticationOptions(storage: tokens))
        try await app.use(localStore: .directory(folder))
        return app
    }

    /// The channels with their last messages.
    var channels: LiveList<LiveRow<ChatChannel>> { list?.rows ?? [] }
    /// The newest messages of the open channel with their authors, the latest one last.
    var rows: [LiveRow<ChatMessage>] { newest.rows.reversed() }
    /// Whether there are earlier messages.
    var hasMore: Bool { newest.hasMore && !newest.isLoadingMore }

    /// The line above the messages.
    var status: String {
        if let error = newest.error { return error.userMessage }
        let unsent = outbox.entries.isEmpty ? "" : " – \(outbox.entries.count) not sent yet"
        return (connection.isOnline ? "Online" : "Offline") + unsent
    }

    /// Why the user is not signed in; nil if no sign-in has failed.
    var signInProblem: String? { session.error?.userMessage }

    /// Keeps the connection open and everything current, until the view disappears.
    func run() async {
        do {
            try await withFeathersApp(app) { _ in
                async let session: Void = session.run()
                async let connection: Void = connection.run()
                async let outbox: Void = outbox.run()
                await newest.run()
                _ = await (session, connection, outbox)
            }
        } catch {
            problem = error.userMessage
        }
    }

    /// The id of the user's record.
    var userID: ServiceID? { session.user?.id }

    /// Keeps the channels of the user current, until the view disappears or the user changes.
    func showChannels() async {
        list = userID.map { user in
            LiveQueryModel(
                app.service("channels", of: ChatChannel.self).live(.sorted(by: .id))
                    .including(ChatChannel.last, ChatChannel.unread(by: user)))
        }
        await list?.run()
    }

    /// Returns the number of messages of others that no one has seen.
    func unreadCount(in channel: LiveRow<ChatChannel>) -> Int {
        userID.flatMap { channel[ChatChannel.unread(by: $0)] } ?? 0
    }

    func open(_ channel: LiveRow<ChatChannel>) {
        guard channel.record.id != room else { return }
        room = channel.record.id
        newest.show(service.newest(in: room))
    }

    /// Marks the messages of others that are shown as read.
    func markRead() async {
        for row in rows where row.room == room && row.authorID != userID && row.isRead != true {
            do { try await service.outbox.patch(row.record, with: ["isRead": true]) } catch {
                problem = error.userMessage
            }
        }
    }

    func showEarlier() async { await newest.loadMore() }

    func signIn() async {
        await session.signIn(.local(email: email, password: password))
        if session.isSignedIn { password = "" }
    }

    /// Stores the draft, which is then shown, and sent as soon as possible.
    func send() async {
        guard !draft.isEmpty, let userID else { return }
        let message = ChatMessage(room: room, authorID: userID, text: draft)
        draft = ""
        do {
            try await service.outbox.create(message)
            problem = nil
        } catch {
            (draft, problem) = (message.text, error.userMessage)
        }
    }

    /// Whether the user may edit a message: their own ones, once the server has them.
    func canEdit(_ row: LiveRow<ChatMessage>) -> Bool { row.authorID == userID && row.state == .confirmed }

    /// Returns a copy of a message to edit; nil if there can be none, which ``problem`` then explains.
    func edit(_ row: LiveRow<ChatMessage>) async -> DraftModel<ChatMessage>? {
        do {
            return DraftModel(try await service.draft(row.record))
        } catch {
            problem = error.userMessage
            return nil
        }
    }

    /// Returns a description of a queued write for users.
    static func text(of write: OutboxWrite) -> String {
        let text = write.data?["text"]?.string ?? ""
        return switch write.method {
        case .create: "New message: \(text)"
        case .remove: "A removed message"
        default: "Edited message: \(text)"
        }
    }
}

extension Service<ChatMessage> {
    fileprivate func newest(in room: String) -> LiveQuery<ChatMessage> {
        live(.where(.room, room).sorted(by: .id, .descending).limit(50)).including(ChatMessage.author)
    }
}
