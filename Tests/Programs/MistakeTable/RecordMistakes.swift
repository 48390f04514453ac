import Feathers
import FeathersTesting
import Foundation

extension Mistake {
    /// Records and queries that do not fit.
    static let records = [
        Mistake(
            "A record without a property of the model", #"try await app.service("messages", of: Message.self).find()"#
        ) { _ in
            let app = app(with: [["id": 1, "text": "Hi", "rating": 1], ["id": 7, "rating": 2]])
            return try await thrown { _ = try await app.service("messages", of: Message.self).find() }
        },
        Mistake("A number that JSON has no form for", #"try await messages.create(Message(text: "Hi", rating: .nan))"#)
        { _ in
            let messages = try await FeathersApp().use(MemoryService(), at: "messages").typed()
            return try await thrown { try await messages.create(Message(text: "Hi", rating: .nan)) }
        },
        Mistake("An id that is nil", "try await messages.get(draft.id)") { _ in
            let messages = try await FeathersApp().use(MemoryService(), at: "messages").typed()
            let draft = Message(text: "Hi")
            return try await thrown { _ = try await messages.get(draft.id) }
        },
        Mistake("A typo in a key of JSON data", #"try await messages.create(["txet": "Hi", "rating": 1])"#) { _ in
            let messages = try await FeathersApp().use(MemoryService(), at: "messages").typed()
            return try await thrown { try await messages.create(["txet": "Hi", "rating": 1]) }
        },
        Mistake("A typo in a property of a query", #"try await messages.find(.where("txet", "Hi"))"#) { _ in
            let messages = try await FeathersApp().use(MemoryService(), at: "messages").typed()
            try await messages.create(Message(text: "Hi"))
            let page = try await messages.find(.where("txet", "Hi"))
            return "(no error: \(page.count) records)"
        },
        Mistake("A typo in a raw query", #"try await messages.find(["$limt": 10])"#) { _ in
            let messages = try await FeathersApp().use(MemoryService(), at: "messages").typed()
            return try await thrown { _ = try await messages.find(["$limt": 10]) }
        },
        Mistake("A number in a query over REST", #"try await messages.find(.where("rating", 5))"#) { server in
            let app = FeathersApp(transport: .rest(server))
            let (warnings, messages) = (Warnings(of: app), app.service("messages"))
            _ = try await messages.find(.where("rating", 5))
            return try await warnings.first()
        },
    ]
}

extension Service where Model == JSONValue {
    /// The service with the model of the samples.
    fileprivate func typed() -> Service<Message> { self.of(Message.self) }
}
