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
}

extension ChatModel {
    /// A model of an app without a server.
    static var sample: ChatModel { ChatModel(FeathersApp(), room: "lobby") }
}
