import Feathers
import Foundation

extension Mistake {
    /// URLs that lead nowhere.
    static let addresses = [
        Mistake("The server is down, REST", "try await messages.find()") { _ in
            let messages = FeathersApp(transport: .rest(try url("http://\(closedPort)"))).service("messages")
            return try await thrown { _ = try await messages.find() }
        },
        Mistake("The server is down, Socket.IO", "try await app.connect()") { _ in
            let app = FeathersApp(transport: .socketIO(try url("http://\(closedPort)")))
            return try await thrown { try await app.connect() }
        },
        Mistake("A URL without a scheme", #"let server = URL(string: "localhost:3030")"#) { _ in
            guard let server = URL(string: "localhost:3030") else { throw NotAMistake() }
            return try await thrown { _ = try await FeathersApp(transport: .rest(server)).service("messages").find() }
        },
        Mistake(
            "A base URL with a path that the server does not have",
            #"FeathersApp(transport: .rest(server.appending(path: "api")))"#
        ) {
            server in
            let app = FeathersApp(transport: .rest(server.appending(path: "api")))
            return try await thrown { _ = try await app.service("messages").find() }
        },
        Mistake("A Socket.IO path that the server does not have", #".socketIO(server) { $0.path = "/socket/" }"#) {
            server in
            let app = FeathersApp(transport: .socketIO(server) { $0.path = "/socket/" })
            return try await thrown { try await app.connect() }
        },
    ]

    /// Calls without a connection.
    static let connections = [
        Mistake(
            "A call over Socket.IO while nothing opens the connection", #"try await app.service("messages").find()"#
        ) { server in
            let app = FeathersApp(transport: .socketIO(server))
            return try await thrown { _ = try await app.service("messages").find() }
        },
        Mistake("`connect()` over REST", "try await app.connect()") { server in
            let app = FeathersApp(transport: .rest(server))
            return try await thrown { try await app.connect() }
        },
    ]

    /// Sign-ins that fail.
    static let accounts = [
        Mistake("A wrong password", "try await app.authenticate(.local(email: email, password: password))") { server in
            let app = FeathersApp(transport: .rest(server))
            try app.use(authentication: AuthenticationOptions(storage: InMemoryTokenStorage()))
            let (email, password) = ("alice@example.com", "guess")
            return try await thrown { try await app.authenticate(.local(email: email, password: password)) }
        },
        Mistake(
            "A sign-in in an app without authentication",
            "try await app.authenticate(.local(email: email, password: password))"
        ) {
            server in
            let app = FeathersApp(transport: .rest(server))
            return try await thrown {
                try await app.authenticate(.local(email: "alice@example.com", password: "guess"))
            }
        },
        Mistake("Authentication that is installed in a connected app", "try app.use(authentication: options)") {
            server in
            let options = AuthenticationOptions(storage: InMemoryTokenStorage())
            return try await withFeathersApp(FeathersApp(transport: .socketIO(server))) { app in
                try await thrown { try app.use(authentication: options) }
            }
        },
        Mistake("A call that needs a sign-in", #"try await app.service("secured").find()"#) { server in
            let app = FeathersApp(transport: .rest(server))
            return try await thrown { _ = try await app.service("secured").find() }
        },
        Mistake("A call without a token, where calls need one", "try await messages.find()") { server in
            let app = FeathersApp(transport: .rest(server))
            try app.use(authentication: AuthenticationOptions { $0.requiresToken = true })
            let messages = app.service("messages")
            return try await thrown { _ = try await messages.find() }
        },
        Mistake("A token with the scheme before it", "try await app.withToken(field) { try await messages.find() }") {
            server in
            let app = FeathersApp(transport: .rest(server))
            let (messages, field) = (app.service("messages"), "Bearer abc")
            return try await thrown { _ = try await app.withToken(field) { try await messages.find() } }
        },
    ]
}
