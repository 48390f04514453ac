import Feathers
import Foundation

// The samples of the article about models from the server, each one as it stands there: `ReadmeTests` compares them. The models are generated ones, of
// which `FeathersModelsTests` compiles many.

private enum ModelSamples {
    struct Message: ServiceModel, PropertyCodable, Identifiable {
        var id: Int
        var text: String
        var pinned: Bool?

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
            ["id": \.id, "text": \.text, "pinned": \.pinned]
        }

        typealias CreateData = MessageData
        typealias PatchData = MessagePatch
    }

    struct MessageData: PropertyEncodable {
        var text: String
        var pinned: Bool?

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
            ["text": \.text, "pinned": \.pinned]
        }
    }

    struct MessagePatch: PropertyEncodable {
        var text: String?
        var pinned: Presence<Bool> = .absent

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
            ["text": \.text, "pinned": \.pinned]
        }
    }

    struct Attachment: PropertyCodable {
        var url: URL
        var mimeType: String?

        static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
            ["url": \.url, "mime_type": \.mimeType]
        }
    }

    /// What a sampled service becomes.
    struct Task: Codable {
        /// In 20 of 30 records. Null in 10.
        var note: String?
        /// Unsure: perhaps an enumeration, of "done", "open".
        var state: String
    }

    static func use(_ app: FeathersApp) async throws {
        let messages = app.service(.messages)  // the path, the model and its id are known
        try await messages.create(.init(text: "Hi"))  // MessageData
        try await messages.patch(7, .init(pinned: .null))  // MessagePatch
        _ = try await messages.find(.where(.text, .isNot("")))  // only what the service's queries may name
    }
}

extension PropertyKey<ModelSamples.Message> {
    fileprivate static var text: Self { Self("text") }
}

extension ServiceDefinition<ModelSamples.Message> {
    fileprivate static var messages: Self { Self(path: "messages") }
}
