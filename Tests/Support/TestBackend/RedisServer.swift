import Foundation

/// A Redis server of one's own, without anything on disk. It ends with this object, or with this process.
public final class RedisServer: Sendable {
    /// Whether there is a Redis to start; where not, says once what to install: for `.enabled(if:
    /// RedisServer.isInstalled)`.
    public static let isInstalled: Bool = {
        if executable != nil { return true }
        let message =
            "No redis-server: SKIPPING THE TESTS OF SEVERAL NODES. Install it (Debian: apt-get install redis-server).\n"
        FileHandle.standardError.write(Data(message.utf8))
        return false
    }()

    /// `redis://127.0.0.1:PORT/0`.
    public let url: String

    private static var executable: String? {
        (Environment.value("PATH") ?? "").split(separator: ":").map { "\($0)/redis-server" }.first(
            where: FileManager.default.isExecutableFile)
    }

    #if os(macOS) || os(Linux)
        // It stops when its standard input ends: that of the shell which waits for that.
        private let lifeline: FileHandle

        /// Starts it and waits until it takes connections.
        public init() throws {
            guard let executable = Self.executable else { throw BackendUnavailable.redis }
            var failure = "no port was free"
            for _ in 0..<10 {
                let port = Int.random(in: 20_000..<60_000)
                do {
                    lifeline = try Self.start(executable, port: port)
                    url = "redis://127.0.0.1:\(port)/0"
                    return
                } catch let error as BackendUnavailable {
                    failure = error.description
                }
            }
            throw BackendUnavailable.start(failure)
        }

        private static func start(_ executable: String, port: Int) throws -> FileHandle {
            let process = ChildProcess()
            let (input, output) = (Pipe(), Pipe())
            process.executableURL = URL(filePath: "/bin/sh")
            let script =
                #""$0" --port "$1" --bind 127.0.0.1 --save "" --appendonly no --dir /tmp & cat >/dev/null; "#
                + #"kill -9 $!; wait"#
            process.arguments = ["-c", script, executable, String(port)]
            process.standardInput = input
            process.standardOutput = output
            // A child that inherited the write end would keep the server alive after us.
            _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
            try process.run()
            var lines = LineReader(handle: output.fileHandleForReading)
            while let line = lines.next() {
                if line.contains("Ready to accept connections") { return input.fileHandleForWriting }
                if line.contains("Failed listening") || line.contains("Address already in use") { break }
            }
            try? input.fileHandleForWriting.close()
            throw BackendUnavailable.start("redis-server does not listen on port \(port)")
        }

        deinit {
            try? lifeline.close()
        }
    #else
        public init() throws {
            throw BackendUnavailable.redis
        }
    #endif
}
