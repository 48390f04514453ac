import ExampleProgram
import Foundation

/// Prints the progress, line by line.
struct Screen: Sendable {
    /// Receives a line of output.
    var output: @Sendable (String) -> Void = { ExampleProgram.write("\($0)\n") }
    func title(_ text: String) { line("\n  \(text)\n") }

    /// Prints a line with the step on the left and its outcome on the right.
    func step(_ what: String, _ outcome: String) {
        line("  " + what.padding(toLength: 12, withPad: " ", startingAt: 0) + outcome)
    }
    func line(_ text: String) { output(text) }
}
