import Foundation

/// Writes what happens, one thought a line.
struct Screen: Sendable {
    /// Where a line goes.
    var output: @Sendable (String) -> Void = { print($0) }
    func title(_ text: String) { line("\n  \(text)\n") }

    /// A line with what was done at its left and what came of it at its right.
    func step(_ what: String, _ outcome: String) { line("  " + what.padding(toLength: 12, withPad: " ", startingAt: 0) + outcome) }
    func line(_ text: String) { output(text) }
    func problem(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
