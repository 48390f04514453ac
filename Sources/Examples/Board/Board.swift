import Feathers
import Foundation

/// A shared board of cards, with the people who add them. Changes show at once, with or without a server, and are sent
/// when there is one.
struct Board: Sendable {
    let app: FeathersApp
    let name: String
    /// The titles of cards whose changes were discarded, because the server has no such card.
    let discarded: AsyncStream<String>
    private let cards: Service<Card>
    private let shown: LiveQuery<Card>
    /// The id of the person who adds cards here; nil for cards without an author.
    private let author: String?
    /// The number of cards to show at first. The server counts the others.
    private static let limit = 50

    /// - Parameters:
    ///   - name: The name that distinguishes this board from others on the server.
    ///   - person: The name of the person who adds cards here.
    ///   - transport: The transport to the server.
    ///   - folder: The folder for the cards on this device, for one process at a time.
    init(_ name: String, by person: String?, over transport: any Transport, folder: URL) async throws {
        app = FeathersApp(transport: transport)
        (self.name, author) = (name, person?.lowercased())
        cards = app.service(.cards)
        let (discarded, discarding) = AsyncStream.makeStream(of: String.self)
        self.discarded = discarded
        shown = cards.live(.where(.board, name).sorted(by: .createdAt).limit(Self.limit))
            .including(Card.author)
        try await app.use(localStore: .directory(folder)) { options in
            // Cards get their ids here: they can be changed before the server knows them, and are never created twice.
            options.services["cards"] = OutboxServiceOptions(isKeyed: true, keyPlaces: [.recordID()])
            options.decide = { failure in
                let decision = Self.decide(failure)
                if case .discard = decision, let title = failure.base?["title"]?.string { discarding.yield(title) }
                return decision
            }
        }
        if let person { try await app.service(.people).outbox.create(.init(id: person.lowercased(), name: person)) }
    }

    /// Decides about a change that was not simply accepted.
    ///
    /// Changes carry the card's version. If someone else has changed the card, the server refuses the change, and both
    /// changes are merged. So a change without a response can be sent again: at worst, it conflicts with its own
    /// result.
    private static func decide(_ failure: OutboxFailure) -> OutboxDecision? {
        switch failure.reason {
        // The server knows this person.
        case .conflict where failure.write.path == "people": .discard
        case .conflict: failure.current == nil ? .discard : .merge
        case .unknown: .retry
        // The card no longer exists. Any other refusal is shown with the card.
        case .rejected: failure.error.code == .notFound ? .discard : nil
        }
    }

    /// Shows the cards on this device at once, then those on the server, and then every change, until the task is
    /// cancelled.
    func watch(_ show: (LiveSnapshot<Card>) async -> Void) async throws {
        for try await snapshot in shown.snapshots { await show(snapshot) }
    }

    /// Shows more cards, while the board is being watched.
    func showMore() async throws { try await shown.loadMore() }

    /// Adds a card to the first column.
    /// - Returns: The card's id.
    func add(_ title: String) async throws -> String? {
        let queued = try await cards.outbox.create(
            .init(board: name, title: title, column: .todo, createdAt: Date(), authorID: author))
        return queued.write.data?["id"]?.string
    }

    func move(_ card: Card, to column: Card.Column) async throws {
        try await cards.outbox.patch(card.id, .init(column: column, version: card.version))
    }

    func rename(_ card: Card, to title: String) async throws {
        try await cards.outbox.patch(card.id, .init(title: title, version: card.version))
    }

    func remove(_ card: Card) async throws { try await cards.outbox.remove(card.id) }

    /// Sends the changes that have not been sent yet, for at most some time.
    /// - Returns: How many are left.
    func send(within limit: Duration) async throws -> Int { try await app.outbox?.flush(within: limit).count ?? 0 }
}
