import Foundation
import Synchronization

/// A client of another library in a process of its own, told line by line what to do.
final class PeerProcess: Sendable {
    private let input: FileHandle
    private let output: Mutex<FileHandle>
    private let process: Process

    /// The Python of the test backend's environment, which `swift test` makes; nil where there is none.
    static var python: URL? {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        let python = package.appending(path: ".build/test-backend/bin/python")
        return FileManager.default.isExecutableFile(atPath: python.path) ? python : nil
    }

    /// Starts a script of `Benchmarks/Peers` and waits until it says that it is ready.
    init(python: URL, script: String, arguments: [String]) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Peers/\(script)").standardized
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = python
        process.arguments = [file.path] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        self.process = process
        self.input = input.fileHandleForWriting
        self.output = Mutex(output.fileHandleForReading)
        guard try readLine() == "READY" else { throw CocoaError(.fileReadUnknown) }
    }

    deinit {
        // Its loop ends with its standard input.
        try? input.close()
        process.waitUntilExit()
    }

    /// Lets the peer do `count` operations of a kind.
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
