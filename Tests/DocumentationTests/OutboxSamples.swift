import Feathers
import Foundation

// The samples of the article about the outbox, each one as it stands there: `ReadmeTests` compares them.

private nonisolated struct Message: Codable, Sendable {
    var id: Int?
    var text: String
}

private func setUp(_ app: FeathersApp, _ folder: URL) async throws {
    let outbox = try await Outbox(file: folder.appending(path: "writes.outbox"))
    try app.use(outbox: outbox)
}

private func writes(_ messages: Service<Message>, _ outbox: Outbox, _ id: UUID) async throws {
    let queued = try await messages.outbox.create(Message(text: "Written in a tunnel"))
    try await messages.outbox.patch(7, with: ["text": "edited"])
    try await messages.outbox.remove(8)

    let message = try await queued.result()
    let earlier = try await outbox.result(of: id)
    _ = (message, earlier)
}

private func keys(_ options: inout OutboxOptions) {
    options.isKeyed = false
    options.services["payments"] = OutboxServiceOptions(
        isKeyed: true, keyPlaces: [.header("Idempotency-Key")])
    options.services["messages"] = OutboxServiceOptions(
        isKeyed: true, keyPlaces: [.recordID("id")])
}

private func migration(_ options: inout OutboxOptions) {
    options.migrate = { write in
        guard write.path == "messages", let body = write.data?["body"] else { return }
        write.data?["body"] = nil
        write.data?["text"] = body
    }
}

private func decisions(_ options: inout OutboxOptions, _ merge: @escaping @Sendable (OutboxWrite) async -> JSONValue?) {
    options.decide = { failure in
        switch failure.reason {
        case .conflict: return await merge(failure.write).map { .replace($0) }
        case .rejected: return .discard
        case .unknown: return nil
        }
    }
}

private func states(
    _ outbox: Outbox, display: (Int, Bool) -> Void, confirm: (OutboxWrite, OutboxFailure?) async -> Bool
) async throws {
    func show(_ count: Int, isOffline: Bool) { display(count, isOffline) }
    for await state in outbox.stateUpdates() {
        show(state.entries.count, isOffline: state.activity == .offline)
        for entry in state.entries where entry.status == .awaitingDecision {
            let keep = await confirm(entry.write, entry.failure)
            try await outbox.decide(keep ? .retry : .discard, for: entry.id)
        }
    }
}

private func group(_ outbox: Outbox, _ boards: Service<JSONValue>, _ cards: Service<JSONValue>) async throws {
    let (board, card) = try await outbox.group {
        let board = try await boards.outbox.create(["name": "Plans"])
        let card = try await cards.outbox.create([
            "board": board.recordID, "text": "Buy milk",
        ])
        return (board, card)
    }
    _ = (board, card)
}

private func references(_ boards: Service<JSONValue>, _ cards: Service<JSONValue>) async throws {
    let board = try await boards.outbox.create(["name": "Plans"])
    try await cards.outbox.create([
        "board": board.recordID, "text": "Buy milk",
    ])
}
