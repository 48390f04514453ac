/// The line that is being typed: what each key does to it, and how much of it a terminal shows.
///
/// Bytes go in, and lines come out. ``Console`` reads the bytes and draws the prompt.
struct Prompt: Sendable {
    enum Input: Equatable, Sendable {
        case line(String)
        /// The end of the input: ^D on an empty line.
        case end
    }

    /// The text before the line; nil if nothing is asked for at the moment.
    var label: String?
    /// Whether the line is not shown, because it is a password. Ends with the line.
    var isSecret = false
    private(set) var typed = ""
    /// The bytes of a character that is not complete.
    private var partial: [UInt8] = []
    private var key = Key.none
    /// Whether keys such as Backspace edit the line. In a file or a pipe, there are no keys.
    private let isEdited: Bool

    /// Where in the sequence of a function key the input is.
    private enum Key { case none, escape, sequence }

    init(isEdited: Bool) { self.isEdited = isEdited }

    /// Takes bytes from the input.
    /// - Returns: The lines that they complete.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [Input] { bytes.compactMap { take($0) } }

    /// Takes the end of the input.
    /// - Returns: The last line, if it has no end.
    mutating func takeEnd() -> Input? {
        flush()
        return typed.isEmpty ? nil : enter()
    }

    private mutating func take(_ byte: UInt8) -> Input? {
        if byte == UInt8(ascii: "\n") {
            flush()
            return enter()
        }
        guard isEdited else {
            append(byte)
            return nil
        }
        switch (key, byte) {
        case (.escape, UInt8(ascii: "[")), (.escape, UInt8(ascii: "O")): key = .sequence
        case (.escape, _): key = .none
        case (.sequence, 0x40...0x7E): key = .none
        case (.sequence, _): break
        case (.none, 0x1B): key = .escape
        case (.none, 0x04): if typed.isEmpty { return .end }
        case (.none, 0x08), (.none, 0x7F): if !typed.isEmpty { typed.removeLast() }
        // ^U and ^W, as everywhere in a terminal.
        case (.none, 0x15): typed = ""
        case (.none, 0x17):
            while typed.last == " " { typed.removeLast() }
            while let last = typed.last, last != " " { typed.removeLast() }
        case (.none, 0x09): append(UInt8(ascii: " "))
        case (.none, 0..<0x20): break
        case (.none, _): append(byte)
        }
        return nil
    }

    private mutating func append(_ byte: UInt8) {
        // A new character begins, so the one before stays incomplete.
        if byte & 0xC0 != 0x80 { flush() }
        partial.append(byte)
        if let text = String(validating: partial, as: UTF8.self) { (typed, partial) = (typed + text, []) }
        if partial.count == 4 { flush() }
    }

    private mutating func flush() {
        typed += String(decoding: partial, as: UTF8.self)
        partial = []
    }

    private mutating func enter() -> Input {
        defer { (typed, isSecret) = ("", false) }
        return .line(typed)
    }

    /// Returns what follows the label in a terminal: the end of the line, if it is longer than there is room for.
    ///
    /// A line that wraps could not be redrawn without knowing where the terminal has wrapped it.
    func visible(columns: Int) -> String {
        guard !isSecret else { return "" }
        // The last column stays free for the cursor.
        var room = columns - 1 - (label ?? "").reduce(0) { $0 + Self.width(of: $1) }
        var shown: [Character] = []
        for character in typed.reversed() {
            room -= Self.width(of: character)
            if room < 0 { break }
            shown.append(character)
        }
        return String(shown.reversed())
    }

    /// The columns that a terminal uses for a character: two for East Asian characters and emoji.
    private static func width(of character: Character) -> Int {
        switch character.unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F000...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: character.unicodeScalars.contains { $0.properties.isEmojiPresentation } ? 2 : 1
        }
    }
}
