import Foundation

/// The terminal, or whatever stands in its place.
enum Terminal {
    /// Shows a text at once, also in a pipe.
    static func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }

    /// Asks for a line that does not show while it is typed.
    /// - Parameter next: gives the line; nil where there is none.
    static func secret(_ question: String, next: () async -> String?) async -> String? {
        write(question)
        var settings = termios()
        let isTerminal = tcgetattr(STDIN_FILENO, &settings) == 0
        if isTerminal {
            var silent = settings
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        }
        let line = await next()
        if isTerminal { tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) }
        write("\n")
        return line
    }
}
