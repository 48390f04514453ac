#if canImport(SwiftUI)
    import Feathers
    import SwiftUI

    /// The channels with the numbers of their unread messages, and the outbox; before that, the sign-in.
    struct ChannelsView: View {
        let model: ChannelsModel

        var body: some View {
            NavigationStack {
                // The user of a stored token is known without a connection.
                if model.shared.session.identity == nil { SignInView(model: model.shared) } else { channels }
            }
            .task { await model.run() }
        }

        private var channels: some View {
            List {
                Section(model.shared.status) {
                    ForEach(model.channels, id: \.room) { channel in
                        NavigationLink {
                            MessagesView(model: channel) { model.markRead(channel) }
                        } label: {
                            CountedRow(name: channel.room, count: model.unreadCount(in: channel))
                        }
                    }
                }
                Section {
                    NavigationLink {
                        OutboxView(outbox: model.shared.outbox)
                    } label: {
                        CountedRow(name: "Outbox", count: model.shared.outbox.entries.count)
                    }
                    Button("Log out") { Task { await model.shared.session.logOut() } }
                }
            }
            .navigationTitle("Channels")
        }
    }

    /// A name, and how many of something there are.
    struct CountedRow: View {
        let name: String
        let count: Int

        var body: some View {
            HStack {
                Text(name)
                Spacer()
                if count > 0 { Text("\(count)").foregroundStyle(.secondary) }
            }
        }
    }

    #Preview {
        List {
            CountedRow(name: "lobby", count: 3); CountedRow(name: "team", count: 0)
        }
    }
#endif
