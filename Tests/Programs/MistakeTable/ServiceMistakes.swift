import Feathers
import FeathersTesting
import Foundation

extension Mistake {
    /// Paths of no service.
    static let paths = [
        Mistake("A path with a typo, REST", #"try await app.service("mesages").find()"#) { server in
            let app = FeathersApp(transport: .rest(server))
            return try await thrown { _ = try await app.service("mesages").find() }
        },
        Mistake("A path with a typo, Socket.IO", #"try await app.service("mesages").find()"#) { server in
            let app = FeathersApp(transport: .socketIO(server))
            return try await withFeathersApp(app) { app in
                try await thrown { _ = try await app.service("mesages").find() }
            }
        },
        Mistake("A path with a typo, no transport", #"try await app.service("mesages").find()"#) { _ in
            let app = FeathersApp()
            try await app.use(MemoryService(), at: "messages")
            return try await thrown { _ = try await app.service("mesages").find() }
        },
        Mistake("A path that leads to another one", #"try await app.service("messages/../users").find()"#) { server in
            let app = FeathersApp(transport: .rest(server))
            return try await thrown { _ = try await app.service("messages/../users").find() }
        },
        Mistake("A placeholder without a value", #"try await app.service("teams/:team/members").find()"#) { server in
            let app = FeathersApp(transport: .rest(server))
            return try await thrown { _ = try await app.service("teams/:team/members").find() }
        },
        Mistake("A path that is registered twice", #"try await app.use(MemoryService(), at: "messages")"#) { _ in
            let app = FeathersApp()
            let warnings = Warnings(of: app)
            try await app.use(MemoryService(), at: "messages")
            try await app.use(MemoryService(), at: "messages")
            return try await warnings.first()
        },
    ]

    /// Methods that do not exist.
    static let methods = [
        Mistake("A method that no service has, Socket.IO", #"try await messages.call("archve", with: ["id": 1])"#) {
            server in
            let app = FeathersApp(transport: .socketIO(server) { $0.callTimeout = .milliseconds(300) })
            let messages = app.service("messages")
            return try await withConnection(of: app) {
                try await thrown { try await messages.call("archve", with: ["id": 1]) }
            }
        },
        Mistake("A method that no service has, REST", #"try await messages.call("archve", with: ["id": 1])"#) {
            server in
            let messages = FeathersApp(transport: .rest(server)).service("messages")
            return try await thrown { try await messages.call("archve", with: ["id": 1]) }
        },
        Mistake(
            "A method of your own service with other labels",
            "func get(id: ServiceID, _ params: Params) async throws -> JSONValue { .null }"
        ) { _ in
            actor Books: ServiceProtocol {
                func get(id: ServiceID, _ params: Params) async throws -> JSONValue { .null }
            }
            let books = try await FeathersApp().use(Books(), at: "books")
            return try await thrown { _ = try await books.get(1) }
        },
    ]

    /// Runs a body with a connection that was opened before.
    private static func withConnection(of app: FeathersApp, _ body: () async throws -> String) async throws -> String {
        try await app.connect()
        let outcome = await Result(catching: body)
        await app.disconnect()
        return try outcome.get()
    }
}

extension Result where Failure == any Error {
    fileprivate init(catching body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
