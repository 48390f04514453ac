import Foundation

/// A loopback server in its own process, so that its processor time isn't counted as the client's.
final class ServerProcess: Sendable {
    let port: UInt16
    private let input: FileHandle

    init(_ kind: Kind) throws {
        let (input, output) = (Pipe(), Pipe())
        let process = Process()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--serve", kind.rawValue]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw CocoaError(.fileReadUnknown)
        }
        self.port = port
        // The server ends when this end of the pipe is closed, at the latest when this process ends.
        self.input = input.fileHandleForWriting
    }

    var url: URL {
        get throws {
            guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw URLError(.badURL) }
            return url
        }
    }

    deinit {
        try? input.close()
    }

    enum Kind: String {
        case http, socket, stream
        /// Accepts connections and requests, and never responds.
        case silent

        /// Prints the port, and serves until standard input ends.
        func serve() throws {
            let port =
                switch self {
                case .http:
                    try LoopbackServer(answering: #"{"id":1,"text":"Hello","author":"Ada","likes":3,"tags":["a","b"]}"#)
                        .port
                case .socket: try LoopbackSocketServer().port
                case .stream: try LoopbackStreamServer().port
                case .silent:
                    try LoopbackListener { peer in
                        var buffer = [UInt8](repeating: 0, count: 16_384)
                        while peer.receive(into: &buffer) > 0 {}
                    }.port
                }
            FileHandle.standardOutput.write(Data("\(port)\n".utf8))
            _ = try FileHandle.standardInput.readToEnd()
        }
    }
}
