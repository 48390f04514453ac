import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation

@testable import FeathersSync

/// A device with a replica of a server's messages.
struct ReplicaScene: Sendable {
    struct Message: Codable, Sendable, Equatable, Queryable {
        var id: Int
        var text: String
        var room: String?
        var updatedAt: Date?
        var deletedAt: Date?

        enum CodingKeys: String, CodingKey { case id, text, room, updatedAt, deletedAt }
    }

    let folder: OutboxFolder
    let server: ReplicaServer
    let warnings = Locked<[String]>([])

    init(_ removing: ReplicaServer.Removing = .marks, page: Int = 1_000) throws {
        folder = try OutboxFolder()
        server = ReplicaServer(removing, page: page)
    }

    /// Begins with records in three rooms.
    func fill(_ count: Int) {
        let sends = server.sendsEvents.withLock(\.self)
        server.sendsEvents.withLock { $0 = false }
        for index in 1...count {
            server.pass(1_500)
            server.put(nil, ["text": .string("m\(index)"), "room": .string(["a", "b", "c"][index % 3])])
        }
        server.sendsEvents.withLock { $0 = sends }
        server.pass(60_000_000)
    }

    /// A process that has not begun to run.
    func app(as user: String? = nil) async throws -> FeathersApp {
        let app = FeathersApp(transport: server.transport)
        let warnings = warnings
        app.use(
            diagnostics: .closure { event in
                if event.domain == .localStore { warnings.withLock { $0.append(event.message) } }
            }, levels: DiagnosticLevels(.warning))
        if let user { app.setIdentity(Identity(user)) }
        var store = LocalStore.directory(folder.url.appending(path: "store", directoryHint: .isDirectory))
        (store.responseDelay, store.writeDelay, store.replicaSpread) = (.seconds(3600), .milliseconds(1), .zero)
        try await app.use(localStore: store)
        return app
    }

    /// Runs an app on the device.
    @discardableResult
    func run<Result: Sendable>(
        as user: String? = nil, _ body: (FeathersApp) async throws -> Result
    ) async throws -> Result {
        let app = try await app(as: user)
        let result = try await withFeathersApp(app) { app in try await body(app) }
        await app.outbox?.close()
        return result
    }

    func messages(_ app: FeathersApp) -> Service<Message> { app.service("messages", of: Message.self) }

    func removals(every interval: Duration = .seconds(3600)) -> Replica<Message>.Removals {
        switch server.removing {
        case .forgets: .comparingIDs(every: interval)
        case .marks: .softDelete(.deletedAt, comparingIDsEvery: interval)
        case .logs: .log("deletions", comparingIDsEvery: interval)
        }
    }

    func replica(
        _ app: FeathersApp, _ query: Query<Message> = Query(), every interval: Duration = .seconds(3600)
    ) async throws -> Replica<Message> {
        try await app.replicate(
            messages(app), query, version: .updatedAt, removals: removals(every: interval),
            indexes: [.room, .updatedAt])
    }

    /// What the server has of the messages.
    func expected(_ query: Query<JSONValue> = Query()) -> [String] { Self.texts(server.all(query)) }

    static func texts(_ records: [JSONValue]) -> [String] { records.compactMap { $0["text"]?.string }.sorted() }
}

extension Replica {
    /// Waits until the replica is up to date.
    @discardableResult
    func upToDate() async -> ReplicaProgress? {
        for await progress in progress where progress.isUpToDate { return progress }
        return nil
    }
}

extension Replica<ReplicaScene.Message> {
    func texts(_ query: Query<ReplicaScene.Message> = Query()) async throws -> [String] {
        try await find(query).map(\.text).sorted()
    }
}
