/// What a terminal shows: it obeys the control characters and sequences that the examples write, and fails at others.
struct TerminalScreen {
    /// A sequence that this terminal does not know.
    struct Unknown: Error { let sequence: String }

    private let columns: Int
    private var rows: [[Character]] = [[]]
    private var (row, column) = (0, 0)
    /// A sequence or a character that is not complete.
    private var rest: [UInt8] = []
    /// Whether anything was written in a style.
    private(set) var isStyled = false

    init(columns: Int) { self.columns = columns }

    /// The rows, without spaces at their ends.
    var lines: [String] {
        rows.map { row in
            String(String(row).reversed().drop { $0 == " " }.reversed())
        }
    }

    mutating func write(_ bytes: some Sequence<UInt8>) throws {
        var text = rest[...] + bytes
        while let first = text.first {
            guard let length = Self.length(text) else { break }
            try obey(first, String(decoding: text.prefix(length), as: UTF8.self))
            text = text.dropFirst(length)
        }
        rest = Array(text)
    }

    /// The bytes of the first character or sequence; nil if it is not complete.
    private static func length(_ text: ArraySlice<UInt8>) -> Int? {
        let first = text[text.startIndex]
        if first == 0x1B {
            return text.dropFirst(2).firstIndex { (0x40...0x7E).contains($0) }.map { $0 - text.startIndex + 1 }
        }
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        return text.count >= length ? length : nil
    }

    private mutating func obey(_ first: UInt8, _ text: String) throws {
        switch text {
        case "\r": column = 0
        case "\n":
            row += 1
            if row == rows.count { rows.append([]) }
        case "\r\n": break
        case "\u{1B}[K": rows[row] = Array(rows[row].prefix(column))
        case "\u{1B}[H": (row, column) = (0, 0)
        case "\u{1B}[2J": rows = Array(repeating: [], count: row + 1)
        case _ where first == 0x1B && text.hasSuffix("m"): isStyled = true
        case _ where first < 0x20 || first == 0x7F: throw Unknown(sequence: text)
        default: put(Character(text))
        }
    }

    private mutating func put(_ character: Character) {
        if column == columns {
            (row, column) = (row + 1, 0)
            if row == rows.count { rows.append([]) }
        }
        while rows[row].count < column { rows[row].append(" ") }
        if rows[row].count == column { rows[row].append(character) } else { rows[row][column] = character }
        column += 1
    }
}
