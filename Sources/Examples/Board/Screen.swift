import ExampleProgram
import Feathers
import Foundation

/// Prints the board, and finds the cards on it by what is typed.
///
/// An actor, so that a command never comes between the printing of a board and the numbers of its cards.
actor Screen {
    private let name: String
    private let console: Console
    /// The board as it was shown last.
    private var snapshot: LiveSnapshot<Card>?
    /// Whether the connection is lost, or there never was one.
    private var isOffline = false
    /// A sentence below the board, until the next command.
    private var note: String?
    /// The cards in the order in which they are numbered; nil before the first board.
    private var cards: [Card]?
    private let (changes, changed) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(name: String, on console: Console) { (self.name, self.console) = (name, console) }

    /// Shows the board again, if a change of the connection changes its heading.
    func show(_ status: ConnectionStatus) {
        let wasOffline = isOffline
        switch status {
        case .waiting, .closed: isOffline = true
        case .connected: isOffline = false
        case .offline, .connecting: break
        }
        if isOffline != wasOffline, snapshot != nil { draw() }
    }

    func show(_ snapshot: LiveSnapshot<Card>) {
        self.snapshot = snapshot
        draw()
        changed.yield()
    }

    /// Shows a sentence below the board, or removes it.
    func note(_ text: String?) {
        guard text != note else { return }
        note = text
        if text != nil { draw() }
    }

    private func draw() {
        guard let snapshot else { return }
        let places = { (card: Card) in Command.columns.firstIndex(of: card.column) ?? Command.columns.count }
        // In each column, the cards stay in the order of the snapshot.
        let rows = snapshot.enumerated()
            .sorted { (places($0.element.record), $0.offset) < (places($1.element.record), $1.offset) }.map(\.element)
        var lines = [ExampleProgram.styled("-- \(name): \(heading(of: snapshot))", .bold)]
        for (number, row) in rows.enumerated() {
            let column = row.record.column.rawValue.padding(toLength: 6, withPad: " ", startingAt: 0)
            let title = ExampleProgram.printable(row.title)
            let author = row[Card.author].map {
                ExampleProgram.styled(", \(ExampleProgram.printable($0.name))", .dim)
            }
            lines.append("\(column) \(number + 1) \(Self.badge(row.state)) \(title)\(author ?? "")")
        }
        if let note { lines.append(ExampleProgram.styled(ExampleProgram.printable(note), .red)) }
        // A terminal shows the board as it is now; a file or a pipe, as it was at each moment.
        console.replace(with: lines.joined(separator: "\n"))
        cards = rows.map(\.record)
    }

    private func heading(of snapshot: LiveSnapshot<Card>) -> String {
        let count = snapshot.records.count
        let total =
            snapshot.total.flatMap { $0 > count ? " of \(snapshot.isTotalEstimated ? "about " : "")\($0)" : nil } ?? ""
        let cards = "\(count)\(total) \(count == 1 && total.isEmpty ? "card" : "cards")"
        let known =
            switch snapshot.source {
            case .server: cards
            // This device has never seen the board.
            case .stored(.distantPast) where count == 0: "not loaded yet"
            case .stored(.distantPast): "\(cards) from this device"
            case .stored(let date): "\(cards) from this device, as of \(date.formatted(.iso8601))"
            }
        return isOffline ? "offline, \(known)" : known
    }

    private static func badge(_ state: RecordState) -> String {
        switch state {
        case .confirmed: " "
        case .pending: ExampleProgram.styled("…", .yellow)
        case .failed(let failure):
            ExampleProgram.styled("! (\(ExampleProgram.printable(failure.error.message)))", .red)
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
