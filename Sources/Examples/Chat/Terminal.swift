import ExampleProgram
import Foundation

/// The terminal, or the pipes or files that replace it.
enum Terminal {
    /// Asks for a line that is not displayed while it is typed.
    /// `next` returns the line; nil if there is none.
    static func secret(_ question: String, next: () async -> String?) async -> String? {
        ExampleProgram.write(question)
        var settings = termios()
        let isTerminal = tcgetattr(STDIN_FILENO, &settings) == 0
        if isTerminal {
            var silent = settings
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        }
        let line = await next()
        if isTerminal { tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) }
        ExampleProgram.write("\n")
        return line
    }
}
