import Foundation

/// The style of text in a terminal.
public enum Style: String, Sendable {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case yellow = "33"
}

extension ExampleProgram {
    /// Whether text is styled: if standard output is a terminal, and the variable `NO_COLOR` is not set to anything
    /// (no-color.org).
    static let usesStyles =
        isatty(STDOUT_FILENO) == 1 && !isSet("NO_COLOR") && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    private static func isSet(_ name: String) -> Bool {
        ProcessInfo.processInfo.environment[name].map { !$0.isEmpty } ?? false
    }

    /// Returns a text in a style, or as it is where standard output is a file or a pipe.
    public static func styled(_ text: String, _ style: Style) -> String {
        usesStyles ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Returns a text from elsewhere on one line, without the characters that control a terminal.
    ///
    /// A message of another user could otherwise clear the screen, or imitate what the program says.
    public static func printable(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control: line.append(scalar == "\n" || scalar == "\t" ? " " : "\u{FFFD}")
            case .lineSeparator, .paragraphSeparator: line.append(" ")
            // Embeddings and overrides of the direction of text, which reach beyond the text itself.
            case .format where (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value):
                line.append("\u{FFFD}")
            default: line.append(scalar)
            }
        }
        return String(line)
    }
}
