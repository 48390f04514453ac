import Feathers

// What previews and tests of views show, without a server.

extension ChatMessage {
    /// Messages in each state.
    static var sampleRows: [LiveRow<ChatMessage>] {
        [
            LiveRow(record: ChatMessage(id: 1, room: "lobby", authorID: 1, text: "Is anyone here?")),
            LiveRow(record: ChatMessage(id: 2, room: "lobby", authorID: 2, text: "I am, in a tunnel"), state: .pending),
        ]
    }

    /// A message that is being edited, in an app without a server.
    @MainActor static func sampleDraft() async throws -> DraftModel<ChatMessage> {
        let app = FeathersApp()
        try await app.use(MemoryService(startID: 1), at: "messages")
        let messages = app.service("messages", of: ChatMessage.self)
        var draft = try await messages.draft(
            messages.create(ChatMessage(room: "lobby", authorID: 1, text: "Is anyone here?")))
        draft.text = "Is anyone there?"
        return DraftModel(draft)
    }
}

extension ChatModel {
    /// A model of an app without a server.
    static var sample: ChatModel { ChatModel(FeathersApp()) }
}
