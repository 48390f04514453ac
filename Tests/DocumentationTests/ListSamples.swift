import Feathers
import Foundation

// The samples of the articles about typed queries, pages and live queries, each one as it stands there: `ReadmeTests`
// compares them.

enum Kind: String, Codable, QueryValue { case text, image }

private struct Message: Codable, Queryable {
    var id: Int
    var text: String
    var isRead: Bool
    var likes: Int
    var kind: Kind
    var createdAt: Date

    enum CodingKeys: String, CodingKey { case id, text, isRead, likes, kind, createdAt }
}

private func live(_ messages: Service<Message>, _ show: ([Message]) -> Void) async throws {
    let newest = messages.live(
        .where("room", "lobby").sorted(by: "createdAt", .descending).limit(20))
    for try await messages in newest {
        show(messages)
    }
}

private func operators(_ messages: Service<Message>) {
    let like = QueryOperator("$like") { value, pattern in
        value?.string?.contains(pattern.string ?? "") ?? false
    }
    let found = messages.live(["text": ["$like": "hello"]], operators: [like])
    _ = found
}

private func snapshots(_ messages: Service<Message>) async throws {
    func update(_ records: LiveList<Message>, removing: [Int], inserting: [Int], reloading: [Int]) {}
    for try await snapshot in messages.live(.sorted(by: "text")).snapshots {
        let changes = snapshot.changes
        update(
            snapshot.records, removing: changes.removals, inserting: changes.insertions,
            reloading: changes.updates)
    }
}

private enum Views {
    @MainActor
    final class Inbox {
        let unread: LiveQueryModel<Message>

        init(_ messages: Service<Message>) {
            unread = LiveQueryModel(messages.live(.where("isRead", false)))
        }

        func appear() async {
            await unread.run()
        }

        var title: String { unread.isLoaded ? "\(unread.records.count) unread" : "…" }
    }
}

private func pages(_ messages: Service<Message>) async throws {
    func append(_ messages: [Message]) {}
    func report(_ fraction: Double) {}
    func archive(_ message: Message) {}
    for try await page in messages.pages(.where("room", "lobby"), of: 50) {
        append(page.data)
        if let fraction = page.fraction { report(fraction) }
    }

    for try await message in messages.pages(of: 200, keyedBy: "id").records {
        archive(message)
    }

    let byDate = messages.pages(.sorted(by: "createdAt"), of: 100, keyedBy: "id")
    let fast = messages.pages(of: 100, prefetching: 3)
    _ = (byDate, fast)
}

private func typed(_ messages: Service<Message>) async throws {
    let query = Query<Message>.where(.isRead, false).where(.likes, .greaterThanOrEqual(3))
        .sorted(by: .createdAt, .descending)
    let popular = try await messages.find(query.limit(10))
    _ = popular
}

func typedQuerySamples() throws -> [Query<JSONValue>] {
    let images = Query<Message>.where(.kind, Kind.image)

    let mixed = Query<Message>.where(.isRead, false)
        .where("author.name", .custom("$regex", "^A"))
    let started = Query<Message>(["$text": ["$search": "feathers"]]).sorted(by: .createdAt)
    return try [images, mixed, started].map { try $0.written(for: CodingOptions()) }
}

private func coding(_ app: FeathersApp, _ yesterday: Date) async throws {
    let service = app.service(
        "messages", of: Message.self,
        coding: CodingOptions(dates: .secondsSince1970, keys: .snakeCase))
    let recent = try await service.find(.where(.createdAt, .greaterThan(yesterday)))
    _ = recent
}
