import ExampleProgram
import Feathers
import Foundation

/// Prints the board, and finds the cards on it by what is typed.
///
/// An actor, so that a command never comes between the printing of a board and the numbers of its cards.
actor Screen {
    private let name: String
    /// The cards in the order in which they are numbered; nil before the first board.
    private var cards: [Card]?
    private let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(name: String) { self.name = name }

    func show(_ snapshot: LiveSnapshot<Card>) {
        let places = { (card: Card) in Command.columns.firstIndex(of: card.column) ?? Command.columns.count }
        // In each column, the cards stay in the order of the snapshot.
        let rows = snapshot.enumerated()
            .sorted { (places($0.element.record), $0.offset) < (places($1.element.record), $1.offset) }.map(\.element)
        var lines = ["-- \(name): \(heading(of: snapshot))"]
        for (number, row) in rows.enumerated() {
            let column = row.record.column.rawValue.padding(toLength: 6, withPad: " ", startingAt: 0)
            lines.append("\(column) \(number + 1) \(Self.badge(row.state)) \(row.record.title)")
        }
        // A terminal shows the board as it is now; a file or a pipe, as it was at each moment.
        ExampleProgram.write(
            (isatty(STDOUT_FILENO) == 1 ? "\u{1B}[H\u{1B}[2J" : "") + lines.joined(separator: "\n") + "\n")
        cards = rows.map(\.record)
        changed.yield()
    }

    private func heading(of snapshot: LiveSnapshot<Card>) -> String {
        let count = snapshot.records.count
        let total =
            snapshot.total.flatMap { $0 > count ? " of \(snapshot.isTotalEstimated ? "about " : "")\($0)" : nil } ?? ""
        let cards = "\(count)\(total) \(count == 1 && total.isEmpty ? "card" : "cards")"
        return switch snapshot.source {
        case .server: cards
        // This device has never seen the board.
        case .stored(.distantPast) where count == 0: "no server"
        case .stored(.distantPast): "\(cards) from this device, no server"
        case .stored(let date): "\(cards) from this device, as of \(date.formatted(.iso8601))"
        }
    }

    private static func badge(_ state: RecordState) -> String {
        switch state {
        case .confirmed: " "
        case .pending: "…"
        case .failed(let failure): "! (\(failure.error.message))"
        }
    }

    /// Returns the card with a number, or with a first word.
    func card(_ text: String) throws -> Card {
        let cards = cards ?? []
        if let number = Int(text) {
            guard cards.indices.contains(number - 1) else {
                throw Command.Mistake(description: "There is no card \(number).")
            }
            return cards[number - 1]
        }
        let found = cards.filter { $0.title.split(separator: " ").first?.lowercased() == text.lowercased() }
        guard let card = found.first else { throw Command.Mistake(description: "No card begins with '\(text)'.") }
        guard found.count == 1 else {
            throw Command.Mistake(description: "\(found.count) cards begin with '\(text)': use a number.")
        }
        return card
    }

    /// Waits for the first board or, with an id, until the card is on the board.
    func wait(forCard id: String? = nil) async {
        for await _ in changes where id == nil || cards?.contains(where: { $0.id == id }) == true { return }
    }
}
