import Feathers
public import Foundation

/// A message for a person at a terminal: how to use a program, or why it ends.
public struct ProgramError: Error, CustomStringConvertible, Sendable {
    /// One sentence, or a usage text.
    public let description: String
    /// The exit code, as in `sysexits.h`: 64 for wrong arguments, 69 if the server cannot be reached, 70 for the rest.
    public let code: Int32

    public init(_ description: String, code: Int32 = 70) { (self.description, self.code) = (description, code) }

    /// The arguments are wrong.
    public static func usage(_ text: String) -> ProgramError { ProgramError(text, code: 64) }
}

/// The entry point of the examples.
public enum ExampleProgram {
    /// Runs a program. An error becomes a sentence on standard error and an exit code, instead of a crash with a
    /// backtrace.
    /// - Parameters:
    ///   - usage: The text for `--help`.
    ///   - body: The program, with its arguments.
    public static func run(usage: String, _ body: ([String]) async throws -> Void) async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.contains("--help") || arguments.contains("-h") { return write(usage + "\n") }
        do {
            try await body(arguments)
        } catch {
            // Discards a line that was being typed, so that the sentence gets its own line.
            Console.restoreTerminal()
            complain(sentence(for: error))
            exit(code(of: error))
        }
    }

    /// Runs a program until it ends, or until Ctrl-C or SIGTERM cancels it.
    public static func untilInterrupted(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let signals = ProcessSignal.received()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask { for await _ in signals { return } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Returns the exit code for an error.
    static func code(of error: any Error) -> Int32 {
        switch error {
        case let error as ProgramError: error.code
        case let error as FeathersError where error.code == .unavailable: 69
        default: 70
        }
    }

    /// Returns what to print for an error.
    static func sentence(for error: any Error) -> String {
        switch error {
        case let error as ProgramError: error.description
        case let error as FeathersError where error.code == .unavailable:
            "The server cannot be reached: \(printable(error.message)). Is it running, and is the URL correct?"
        default: printable("\(error)")
        }
    }

    /// Returns an argument as the URL of a server.
    /// - Throws: The usage text, if it isn't an `http` or `https` URL with a host.
    public static func server(_ argument: String?, or usage: String) throws -> URL {
        guard let url = argument.flatMap(URL.init(string:)), ["http", "https"].contains(url.scheme), url.host() != nil
        else {
            throw ProgramError.usage(usage)
        }
        return url
    }

    /// Writes to standard output immediately, even to a pipe.
    public static func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
    /// Writes a line to standard error.
    public static func complain(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
