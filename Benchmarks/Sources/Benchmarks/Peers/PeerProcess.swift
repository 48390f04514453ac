import Foundation
import Synchronization

/// A client of another library in its own process, controlled by lines on its standard input.
final class PeerProcess: Sendable {
    private let input: FileHandle
    private let output: Mutex<FileHandle>
    private let process: Process

    /// Starts a script in `Benchmarks/Peers`, and waits until it is ready.
    /// - Throws: ``PeerMissing`` if something it requires isn't installed.
    init(_ language: PeerLanguage, script: String, url: URL) throws {
        guard let program = language.program else { throw PeerMissing("\(language.name) is not installed") }
        let file = ResultFiles.package.appending(path: "Peers/\(script)")
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = program
        process.arguments = [file.path, url.absoluteString]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        self.process = process
        self.input = input.fileHandleForWriting
        self.output = Mutex(output.fileHandleForReading)
        let line = try readLine()
        if line.hasPrefix("MISSING ") {
            throw PeerMissing("\(language.name) does not have \(line.dropFirst("MISSING ".count))")
        }
        guard line == "READY" else { throw PeerMissing("\(script) did not start") }
    }

    deinit {
        // The peer's loop ends with its standard input.
        try? input.close()
        process.waitUntilExit()
    }

    /// Runs `count` operations of the task `what` in the peer, and returns their cost.
    func run(_ what: String, _ count: Int) throws -> Cost {
        try input.write(contentsOf: Data("\(what) \(count)\n".utf8))
        let numbers = try readLine().split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 2 else { throw CocoaError(.fileReadUnknown) }
        return Cost(elapsed: .nanoseconds(numbers[0]), cpu: .nanoseconds(numbers[1]))
    }

    private func readLine() throws -> String {
        try output.withLock { output in
            var line = Data()
            while let byte = try output.read(upToCount: 1), !byte.isEmpty, byte != Data([10]) { line += byte }
            return String(decoding: line, as: UTF8.self)
        }
    }
}

/// An error about a missing requirement of a peer.
struct PeerMissing: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
