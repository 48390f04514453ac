import Feathers
import FeathersTesting
import Foundation

extension Mistake {
    /// Events that do not arrive.
    static let events = [
        Mistake("Events over REST", #"let created = app.service("messages").events(.created)"#) { server in
            let app = FeathersApp(transport: .rest(server))
            let warnings = Warnings(of: app)
            let created = app.service("messages").events(.created)
            defer { withExtendedLifetime(created) {} }
            return try await warnings.first()
        },
        Mistake("Two readers of one stream", "async let first = created.first(); async let second = created.first()") {
            _ in
            let app = FeathersApp()
            let messages = try await app.use(MemoryService(), at: "messages")
            let (warnings, created) = (Warnings(of: app), messages.events(.created))
            async let first = created.first()
            async let second = created.first()
            let warning = try await warnings.first()
            messages.emit(.created, ["text": "Hi"])
            messages.emit(.created, ["text": "Ho"])
            _ = try await (first, second)
            return warning
        },
        Mistake(
            "An event that cannot be decoded",
            #"let created = app.service("messages", of: Message.self).events(.created); "#
                + #"let message = try await created.first()"#
        ) { _ in
            let app = FeathersApp()
            // A stream does not keep its app, which reports what it drops.
            defer { withExtendedLifetime(app) {} }
            try await app.use(MemoryService(), at: "messages")
            let warnings = Warnings(of: app)
            let created = app.service("messages", of: Message.self).events(.created)
            app.service("messages").emit(.created, ["id": 7, "rating": 1])
            app.service("messages").emit(.created, ["id": 8, "text": "Hi", "rating": 1])
            let message = try await created.first()
            guard message.id == 8 else { throw NotAMistake() }
            return try await warnings.first()
        },
    ]
}
