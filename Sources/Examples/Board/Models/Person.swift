// Written by feathers-models from Sources/Examples/Board/Schemas.
// The next run overwrites this file. Your extensions belong in files of their own.

import Feathers

/// A person who adds cards.
struct Person: Codable, Hashable, Sendable, Identifiable, ServiceModel {
    var id: String
    var name: String

    enum CodingKeys: String, CodingKey {
        case id, name
    }

    typealias CreateData = PersonData
    typealias PatchData = PersonPatch
}

/// What the service's `create` takes.
struct PersonData: Codable, Hashable, Sendable, ServiceValue {
    var id: String
    var name: String
}

/// What the service's `patch` takes: only the properties to change.
struct PersonPatch: Codable, Hashable, Sendable, ServiceValue {
    var name: String?
}

extension ServiceDefinition<Person> {
    /// The service at `people`.
    static var people: Self { Self(path: "people") }
}

extension Person {
    /// The records of service 'cards' that refer to this one by `authorID`.
    static let cards = relation(toMany: Card.self, at: "cards", by: .authorID)
}
