#if canImport(SwiftUI)
    import Feathers
    import SwiftUI

    /// A chat room: a sign-in, then the messages, and a field for a new one.
    ///
    /// ```swift
    /// // The app is made with `ChatModel.app(_:in:tokens:)`.
    /// @State private var lobby = ChatModel(app, room: "lobby")
    /// var body: some Scene { WindowGroup { ChatView(model: lobby) } }
    /// ```
    struct ChatView: View {
        @Bindable var model: ChatModel

        var body: some View {
            VStack(alignment: .leading) {
                Text(model.status).font(.headline)
                // The user of a stored token is known without a connection.
                if model.session.identity == nil { signIn } else { messages }
                if let problem = model.problem { Text(problem).foregroundStyle(.red) }
            }
            .padding()
            .task { await model.run() }
        }

        @ViewBuilder private var signIn: some View {
            TextField("Email", text: $model.email)
            SecureField("Password", text: $model.password)
            Button("Sign in") { model.perform { await model.signIn() } }.disabled(model.session.isSigningIn)
            if let problem = model.signInProblem { Text(problem).foregroundStyle(.red) }
        }

        @ViewBuilder private var messages: some View {
            if model.hasMore { Button("Earlier messages") { model.perform { await model.showEarlier() } } }
            List(model.rows) { row in
                VStack(alignment: .leading) {
                    Text(row[ChatMessage.author]?.name ?? "…").font(.caption)
                    Text(row.text).foregroundStyle(row.state == .confirmed ? .primary : .secondary)
                    if case .failed(let failure) = row.state {
                        Text(ChatModel.text(of: failure.error)).foregroundStyle(.red)
                        Button("Send again") { model.perform { await model.outbox.retry(failure.write.id) } }
                        Button("Discard") { model.perform { await model.outbox.discard(failure.write.id) } }
                    }
                }
            }
            HStack {
                TextField("Message", text: $model.draft).onSubmit { model.perform { await model.send() } }
                Button("Send") { model.perform { await model.send() } }.disabled(model.draft.isEmpty)
                Button("Log out") { model.perform { await model.session.logOut() } }
            }
        }
    }
#endif
