#if canImport(SwiftUI)
    import SwiftUI

    /// A chat room: its messages, and a field for a new one.
    ///
    /// ```swift
    /// @State private var lobby = ChatModel(
    ///     FeathersApp(transport: .socketIO(url)), room: "lobby", author: "Ada")
    /// var body: some Scene { WindowGroup { ChatView(lobby) } }
    /// ```
    struct ChatView: View {
        @Bindable var model: ChatModel
        /// The number of times a message was submitted. Each change starts a task that ends with the view.
        @State private var sendings = 0

        init(_ model: ChatModel) { self.model = model }

        var body: some View {
            VStack(alignment: .leading) {
                Text(model.title).font(.headline)
                List(model.messages) { message in
                    VStack(alignment: .leading) {
                        Text(message.author).font(.caption)
                        Text(message.text)
                    }
                }
                if let problem = model.problem { Text(problem).foregroundStyle(.red) }
                HStack {
                    TextField("Message", text: $model.draft).onSubmit { if model.canSend { sendings += 1 } }
                    Button("Send") { sendings += 1 }.disabled(!model.canSend)
                }
            }
            .padding()
            .task { await model.run() }
            .task(id: sendings) { if sendings > 0 { await model.send() } }
        }
    }
#endif
