import Feathers
import Observation

/// The channels of a chat, and how much of each is unread.
@MainActor @Observable
final class ChannelsModel {
    let channels: [ChatModel]
    /// For each user and channel, the newest row that was shown.
    private var seen: [[String]: String] = [:]

    /// Creates a model of some channels. The app needs authentication and a local store.
    init(_ app: FeathersApp, channels: [String] = ["lobby", "team", "random"]) {
        self.channels = channels.map { ChatModel(app, room: $0) }
    }

    /// What is the same in every channel: the sign-in, the connection and the outbox.
    var shared: ChatModel { channels[0] }

    /// Keeps all channels current, until the view disappears.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            for channel in channels { group.addTask { await channel.run() } }
        }
    }

    /// Returns the number of messages of others since the channel was last shown, among those that have loaded. Before
    /// that, all are unread.
    func unreadCount(in channel: ChatModel) -> Int {
        let last = seen[key(of: channel)]
        return channel.rows.reversed().prefix { $0.id != last }.count { $0.authorID != channel.userID }
    }

    /// Marks what a channel shows as read.
    func markRead(_ channel: ChatModel) { seen[key(of: channel)] = channel.rows.last?.id }

    private func key(of channel: ChatModel) -> [String] { [channel.session.identity?.name ?? "", channel.room] }
}
