import Feathers
import Foundation

// The samples of the article about replicas, each one as it stands there: `ReadmeTests` compares them.

private enum ReplicaSamples {
    nonisolated struct Channel: Codable, Sendable {
        var id: Int
    }

    nonisolated struct Message: Codable, Queryable {
        var id: Int
        var channelID: Int
        var authorID: Int
        var createdAt: Date
        var updatedAt: Date
        var deletedAt: Date?

        enum CodingKeys: String, CodingKey { case id, channelID, authorID, createdAt, updatedAt, deletedAt }
    }

    static func replicate(
        _ app: FeathersApp, _ messages: Service<Message>, _ channel: Channel, me: Channel
    ) async throws -> [Message] {
        func show(_ snapshot: LiveSnapshot<Message>) {}
        func show(_ count: Int, of total: Int?) {}
        let replica = try await app.replicate(
            messages, .where(.channelID, channel.id), version: .updatedAt,
            removals: .softDelete(.deletedAt), indexes: [.authorID, .createdAt])

        let live = replica.live(.sorted(by: .createdAt, .descending).limit(50))
        for try await snapshot in live.snapshots { show(snapshot) }

        let mine = try await replica.find(.where(.authorID, me.id))
        for await progress in replica.progress { show(progress.count, of: progress.total) }
        return mine
    }
}
