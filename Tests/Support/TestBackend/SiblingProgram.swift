public import Foundation

/// An executable of this package, built beside the tests.
public enum SiblingProgram {
    public static func url(_ name: String) -> URL {
        #if canImport(Darwin)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            return (bundle ?? .main).bundleURL.deletingLastPathComponent().appending(path: name)
        #else
            return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(
                path: name)
        #endif
    }

    /// Runs a program whose files have no room, and returns what it says on standard error.
    ///
    /// A limit to the size of files ends a write as a full disk does: halfway, and with an error.
    /// - Parameters:
    ///   - blocks: The size of a file at which it is full, in blocks of the shell's `ulimit -f`.
    ///   - arguments: The path of the program, and its arguments.
    public static func run(withFilesOfAtMost blocks: Int, _ arguments: [String]) async throws -> String {
        try await onThread {
            let process = ChildProcess()
            let output = Pipe()
            process.executableURL = URL(filePath: "/bin/sh")
            // Thread Sanitizer begins with a larger file in TMPDIR, unless there is no such folder.
            let script =
                "trap '' XFSZ; ulimit -c 0; ulimit -f \(blocks); "
                + #"export SWIFT_BACKTRACE=enable=no TMPDIR=/dev/null; exec "$0" "$@""#
            process.arguments = ["-c", script] + arguments
            process.standardOutput = FileHandle.nullDevice
            process.standardError = output
            try process.run()
            let text = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// Waits for processes where no other test needs the thread.
    public static func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws
        -> Result
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }
}
