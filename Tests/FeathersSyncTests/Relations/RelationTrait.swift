import FeathersCore

@testable import FeathersSync

/// What makes a history of related records different from others. Each history draws some.
enum RelationTrait: String, CaseIterable, Sendable {
    /// The list has a limit, and grows.
    case growth
    /// Times are more precise on the server than in JSON, and the list is sorted by them.
    case precise
    /// The services write names in snake case.
    case snakeCase
    /// The service of the users wraps its results.
    case rootKeys
    /// Some records have values of another type than the models.
    case undecodable
    /// For some time, the service of related records refuses every request.
    case refusals
    /// Responses are held back, so that they arrive after events, and after a sign-in.
    case held
    /// The rows also show their last reactions and the number of some.
    case parts

    static func random(using generator: inout some RandomNumberGenerator) -> Set<RelationTrait> {
        Set(allCases.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 })
    }
}

/// The relations of a history.
struct HistoryRelations: Sendable {
    let author: Relation<Message, LiveRow<User>?>
    let readers: Relation<Message, [LiveRow<User>]>
    let by: Relation<Reaction, LiveRow<User>?>
    let reactions = Self.all
    let latest = all.latest(2)
    let count = all.count(where: .where(.emoji, "a"))
    private let hasParts: Bool

    private static let all = Message.relation(
        toMany: Reaction.self, at: "reactions", by: .messageID, .sorted(by: "emoji"))

    init(_ traits: Set<RelationTrait>) {
        let keys: [RootKey] = traits.contains(.rootKeys) ? ["data", "users"] : []
        author = Message.relation(to: User.self, at: "users", by: .authorID, rootKeys: keys)
        readers = Message.relation(toMany: User.self, at: "users", byAll: .readers, rootKeys: keys)
        by = Reaction.relation(to: User.self, at: "users", by: .userID, rootKeys: keys)
        hasParts = traits.contains(.parts)
    }

    /// Returns a query with the last reactions of its records, and with their number if the server counts.
    func addParts(to live: LiveQuery<Message>, _ counts: Bool) -> LiveQuery<Message> {
        guard hasParts else { return live }
        let latest = live.including(latest.including(by))
        return counts ? latest.including(count) : latest
    }
}

/// How a service of a history writes its records.
struct RelationWire: Sendable {
    let traits: Set<RelationTrait>

    private static let names = [
        "authorID": "author_id", "teamID": "team_id", "messageID": "message_id", "userID": "user_id",
    ]

    /// Returns a record as the service sends it.
    func outward(_ record: JSONValue) -> JSONValue {
        guard var object = record.object else { return record }
        if traits.contains(.precise), let exact = object["at"]?.number {
            object["at"] = .number(exact.rounded(.down) + 1 / 128)
        }
        guard traits.contains(.snakeCase) else { return .object(object) }
        return .object(JSONObject(object.map { (Self.names[$0.key] ?? $0.key, $0.value) }))
    }

    /// Returns a query or the data of a request with the server's own names.
    func inward(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object): .object(JSONObject(object.map { (Self.own($0.key), inward($0.value)) }))
        case .array(let elements): .array(elements.map(inward))
        default: value
        }
    }

    private static func own(_ name: String) -> String { names.first { $0.value == name }?.key ?? name }
}
