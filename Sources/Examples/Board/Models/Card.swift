// Written by feathers-models from Sources/Examples/Board/Schemas.
// The next run overwrites this file. Your extensions belong in files of their own.

import Feathers
import Foundation

/// A card on a board.
struct Card: ServiceModel, PropertyCodable, Identifiable {
    var id: String
    /// The name of the board.
    var board: String
    var title: String
    var column: Column
    var createdAt: Date
    /// The number of the last change, counted by the server.
    var version: Int?

    static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
        [
            "id": \.id,
            "board": \.board,
            "title": \.title,
            "column": \.column,
            "createdAt": \.createdAt,
            "version": \.version,
        ]
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

/// The properties that the service's queries may name.
extension PropertyKey<Card> {
    static var board: Self { Self("board") }
    static var column: Self { Self("column") }
    static var createdAt: Self { Self("createdAt") }
}

/// What the service's `create` takes.
struct CardData: PropertyEncodable {
    var board: String
    var title: String
    var column: Card.Column
    var createdAt: Date

    static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
        ["board": \.board, "title": \.title, "column": \.column, "createdAt": \.createdAt]
    }
}

/// What the service's `patch` takes: only the properties to change.
struct CardPatch: PropertyEncodable {
    var title: String?
    var column: Card.Column?
    /// The version of the card that was changed. If the server has a later one, it refuses the change.
    var version: Int?

    static var properties: KeyValuePairs<String, PartialKeyPath<Self>> {
        ["title": \.title, "column": \.column, "version": \.version]
    }
}

extension ServiceDefinition<Card> {
    /// The service at `cards`.
    static var cards: Self { Self(path: "cards") }
}
