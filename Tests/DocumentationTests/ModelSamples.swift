import Feathers
import Foundation

// The samples of the article about models from the server, each one as it stands there: `ReadmeTests` compares them.
// The models are generated ones, of which `FeathersModelsTests` compiles many.

private enum ModelSamples {
    struct Message: Codable, Hashable, Sendable, Identifiable, ServiceModel {
        var id: Int
        var text: String
        var pinned: Bool?
        var createdAt: Date

        enum CodingKeys: String, CodingKey {
            case id, text, pinned
            case createdAt = "created_at"
        }

        typealias CreateData = MessageData
        typealias PatchData = MessagePatch
    }

    struct MessageData: Codable, Hashable, Sendable, ServiceValue {
        var text: String
        var pinned: Bool?
    }

    struct MessagePatch: Codable, Hashable, Sendable, ServiceValue {
        var text: String?
        var pinned: Presence<Bool> = .absent
    }

    /// What a sampled service becomes.
    nonisolated struct Task: Codable {
        /// In 20 of 30 records. Null in 10.
        var note: String?
        /// Unsure: perhaps an enumeration, of "done", "open".
        var state: String
    }

    static func use(_ app: FeathersApp) async throws {
        let messages = app.service(.messages)  // the path, the model and its id are known
        try await messages.create(.init(text: "Hi"))  // MessageData
        try await messages.patch(7, .init(pinned: .null))  // MessagePatch
        // Only what the service's queries may name.
        _ = try await messages.find(.where(.text, .notEquals("")))
    }
}

extension ServiceDefinition<ModelSamples.Message> {
    fileprivate static var messages: Self { Self(path: "messages") }
}
