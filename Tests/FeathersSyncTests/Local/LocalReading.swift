#if os(macOS) || os(Linux)
    import Foundation
    import TestBackend
    import Testing

    /// The program that opens stores and says what it found.
    enum LocalReading {
        /// Has the program open stores, and returns what it says of each.
        /// - Parameter launcher: A program that starts it, with arguments.
        static func read(_ folders: [String], _ launcher: [String] = []) async throws -> [String: String] {
            try await SiblingProgram.onThread {
                let (process, input, output) = (ChildProcess(), Pipe(), Pipe())
                let command = launcher + [SiblingProgram.url("LocalWriter").path, "read"]
                process.executableURL = URL(filePath: command[0])
                process.arguments = Array(command.dropFirst())
                (process.standardInput, process.standardOutput) = (input, output)
                process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) {
                    $1
                }
                // A program that ends early must not end this one.
                signal(SIGPIPE, SIG_IGN)
                try process.run()
                DispatchQueue.global().async {
                    try? input.fileHandleForWriting.write(contentsOf: Data("\(folders.joined(separator: "\n"))\n".utf8))
                    try? input.fileHandleForWriting.close()
                }
                let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                process.waitUntilExit()
                #expect(process.terminationReason == .exit && process.terminationStatus == 0)
                let pairs = text.split(separator: "\n").compactMap { line -> (String, String)? in
                    guard let space = line.firstIndex(of: " ") else { return nil }
                    return (String(line[..<space]), String(line[line.index(after: space)...]))
                }
                return Dictionary(pairs) { first, _ in first }
            }
        }
    }
#endif
