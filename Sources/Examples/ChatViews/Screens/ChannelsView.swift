#if canImport(SwiftUI)
    import Feathers
    import SwiftUI

    /// The channels with their last messages and the numbers of unread ones, and the outbox; before that, the sign-in.
    struct ChannelsView: View {
        let model: ChatModel

        var body: some View {
            NavigationStack {
                // The user of a stored token is known without a connection.
                if model.session.identity == nil { SignInView(model: model) } else { channels }
            }
            .task { await model.run() }
            .task(id: model.userID) { await model.showChannels() }
        }

        private var channels: some View {
            List {
                Section(model.status) {
                    ForEach(model.channels) { channel in
                        NavigationLink {
                            MessagesView(model: model).onAppear { model.open(channel) }
                        } label: {
                            VStack(alignment: .leading) {
                                Text(channel.record.id)
                                ForEach(channel[ChatChannel.last]) { MessageRow(row: $0) }
                            }
                            .badge(model.unreadCount(in: channel))
                        }
                    }
                }
                Section {
                    NavigationLink("Outbox") { OutboxView(outbox: model.outbox) }
                        .badge(model.outbox.entries.count)
                    Button("Log out") { Task { await model.session.logOut() } }
                }
            }
            .navigationTitle("Channels")
        }
    }
#endif
