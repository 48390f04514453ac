// Written by feathers-models from Sources/Examples/Board/Schemas.
// The next run overwrites this file. Your extensions belong in files of their own.

import Feathers
import Foundation

/// A card on a board.
struct Card: Codable, Hashable, Sendable, Identifiable, ServiceModel {
    var id: String
    /// The name of the board.
    var board: String
    var title: String
    var column: Column
    var createdAt: Date
    /// The person who has added the card.
    var authorID: String?
    /// The number of the last change, counted by the server.
    var version: Int?

    enum CodingKeys: String, CodingKey {
        case id, board, title, column, createdAt
        case authorID = "authorId"
        case version
    }

    /// The properties that the service's queries may name.
    enum QueryKeys: String, CodingKey {
        case board, column, createdAt
        case authorID = "authorId"
    }

    typealias CreateData = CardData
    typealias PatchData = CardPatch

    enum Column: RawRepresentable, Codable, Hashable, Sendable, QueryValue {
        case todo
        case doing
        case done
        /// A value that the schema does not list.
        case unknown(String)

        init(rawValue: String) {
            self =
                switch rawValue {
                case "todo": .todo
                case "doing": .doing
                case "done": .done
                default: .unknown(rawValue)
                }
        }

        var rawValue: String {
            switch self {
            case .todo: "todo"
            case .doing: "doing"
            case .done: "done"
            case .unknown(let value): value
            }
        }
    }
}

/// What the service's `create` takes.
struct CardData: Codable, Hashable, Sendable, ServiceValue {
    var board: String
    var title: String
    var column: Card.Column
    var createdAt: Date
    var authorID: String?

    private enum CodingKeys: String, CodingKey {
        case board, title, column, createdAt
        case authorID = "authorId"
    }
}

/// What the service's `patch` takes: only the properties to change.
struct CardPatch: Codable, Hashable, Sendable, ServiceValue {
    var title: String?
    var column: Card.Column?
    /// The version of the card that was changed. If the server has a later one, it refuses the change.
    var version: Int?
}

extension ServiceDefinition<Card> {
    /// The service at `cards`.
    static var cards: Self { Self(path: "cards") }
}

extension Card {
    /// The record of service 'people' whose id is in `authorID`.
    static let author = relation(to: Person.self, at: "people", by: .authorID)
}
