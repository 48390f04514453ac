import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation

@testable import FeathersSync

/// A server with records that may be out of reach, and apps on one device that keep data in one folder.
struct LocalScene: Sendable {
    struct Note: Codable, Sendable, Equatable {
        var id: Int?
        var text: String
    }

    let folder: OutboxFolder
    let server: MemoryService
    let isOnline = Locked(true)
    let warnings = Locked<[String]>([])

    init(_ texts: String...) throws {
        folder = try OutboxFolder()
        let records = texts.enumerated().map { ["id": .integer(Int64($0 + 1)), "text": .string($1)] as JSONObject }
        server = MemoryService(startID: 1, records: records)
    }

    var place: URL { folder.url.appending(path: "store", directoryHint: .isDirectory) }

    /// A process that has not begun to run.
    func app(
        _ store: ((URL) -> LocalStore)? = nil, as user: String? = nil,
        _ configure: (inout OutboxOptions) -> Void = { _ in }
    ) async throws -> FeathersApp {
        let (server, isOnline, warnings) = (server, isOnline, warnings)
        let app = FeathersApp(
            transport: StubTransport { request in
                guard isOnline.withLock({ $0 }) else {
                    throw FeathersError(.unavailable, "The server cannot be reached", execution: .neverSent)
                }
                return try await server.respond(to: request).result
            })
        app.use(
            diagnostics: .closure { event in
                if event.domain == .localStore { warnings.withLock { $0.append(event.message) } }
            }, levels: DiagnosticLevels(.warning))
        if let user { app.setIdentity(Identity(user)) }
        var local = store?(place) ?? .directory(place)
        // A busy machine is no silent server.
        local.responseDelay = .seconds(3600)
        try await app.use(localStore: local, configure)
        return app
    }

    func notes(_ app: FeathersApp) -> Service<Note> { app.service("notes", of: Note.self) }

    /// Runs an app until a live query has shown the server's result, which is then on disk.
    func visit(as user: String? = nil, headers: [String: String] = [:], _ store: ((URL) -> LocalStore)? = nil)
        async throws
    {
        let app = try await app(store, as: user)
        try await withFeathersApp(app) { app in
            let live = notes(app).live(.sorted(by: "id"), params: Params(headers: headers))
            for try await snapshot in live.snapshots where snapshot.source == .server { break }
        }
        await app.outbox?.close()
    }

    var database: URL { place.appending(path: "local.sqlite") }

    /// The lists on disk.
    func lists() async throws -> [LocalContents.Result] {
        try await DatabaseReader(database).read { try LocalContents(in: $0) }?.results ?? []
    }
}
