/// A line that is typed.
enum Command: Equatable {
    case add(String)
    case move(card: String, Card.Column)
    case rename(card: String, String)
    case remove(card: String)
    /// Shows the cards that follow those on the screen.
    case more
    /// Waits until everything is sent.
    case send
    case help

    static let columns: [Card.Column] = [.todo, .doing, .done]

    static let usage = """
        add TITLE            adds a card
        move CARD COLUMN     moves a card to 'todo', 'doing' or 'done'
        rename CARD TITLE    gives a card another title
        remove CARD          removes a card
        more                 shows the next cards, if there are any
        send                 waits for up to 10 seconds until everything is sent
        help                 shows this list; ^D leaves
        CARD is the number of a card, or the first word of its title.
        """

    /// What is wrong with a line, for the person who typed it.
    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    init(_ line: String) throws {
        let words = line.split(separator: " ", maxSplits: 2).map(String.init)
        let (name, first, rest) = (words.first ?? "", words.dropFirst().first, words.dropFirst(2).first)
        switch (name, first, rest) {
        case ("add", let first?, let rest): self = .add([first, rest].compactMap(\.self).joined(separator: " "))
        case ("move", let card?, let column?):
            guard let column = Self.columns.first(where: { $0.rawValue == column }) else {
                throw Mistake(
                    description: "There is no column '\(column)'. The columns are 'todo', 'doing' and 'done'.")
            }
            self = .move(card: card, column)
        case ("rename", let card?, let title?): self = .rename(card: card, title)
        case ("remove", let card?, nil): self = .remove(card: card)
        case ("more", nil, nil): self = .more
        case ("send", nil, nil): self = .send
        case ("help", nil, nil): self = .help
        case ("add", _, _), ("move", _, _), ("rename", _, _), ("remove", _, _), ("more", _, _), ("send", _, _),
            ("help", _, _):
            throw Mistake(description: "'\(name)' is missing an argument, or has too many:\n\(Self.usage)")
        default: throw Mistake(description: "There is no command '\(name)':\n\(Self.usage)")
        }
    }
}
