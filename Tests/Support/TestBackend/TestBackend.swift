public import Foundation
import Synchronization

/// The server the integration suites talk to: started once per process, on first use.
///
/// It is `Tests/Support/Backend/server.py`, run in a virtual environment of its own under `.build`. It ends
/// with this process, however that ends, since its standard input is a pipe only we hold.
///
/// Environment variables:
/// - `FEATHERS_BACKEND_URL` names a server to use instead; then none is started. The script server
///   is our own tool and the JSON:API server no Feathers one, so those start the Python process all the same.
/// - `FEATHERS_SKIP_INTEGRATION=1` skips what needs a server, see ``isSkipped``.
public final class TestBackend: Sendable {
    public static let shared = TestBackend()

    /// Whether the integration suites are to be left out, loudly: for `.enabled(if: !TestBackend.isSkipped)`.
    public static let isSkipped: Bool = {
        guard Environment.skipsIntegration else { return false }
        let message = "FEATHERS_SKIP_INTEGRATION=1: SKIPPING EVERY TEST THAT NEEDS A SERVER\n"
        FileHandle.standardError.write(Data(message.utf8))
        return true
    }()

    /// Where the Feathers services are, over REST and Socket.IO.
    public static func url() async throws -> URL {
        try await shared.url()
    }

    /// Where the script server is: it answers what a test told it to and records what it was sent.
    public static func scriptServer() async throws -> URL {
        try await shared.scriptServer()
    }

    /// Where the script server is over TLS.
    public static func secureScriptServer() async throws -> SecureScriptServer {
        try await shared.secureScriptServer()
    }

    /// Where WebSockets behave as badly as a test asks for.
    public static func webSocketServer() async throws -> WebSocketServer {
        try await shared.webSocketServer()
    }

    /// Where the JSON:API server is; each test wants a ``JSONAPISpace`` of its own there.
    public static func jsonAPI() async throws -> URL {
        try await shared.jsonAPI()
    }

    private let python: PythonInstallation
    private let externalURL: URL?
    private let variables: [String: String]
    // Serial: whoever comes second waits for the first one's start, and gets the same outcome.
    private let queue = DispatchQueue(label: "feathers.test-backend")
    private let outcome = Mutex<Result<BackendProcess, any Error>?>(nil)

    /// A server of one's own, started with these environment variables (`COMPRESS`, `JWT_EXPIRES`,
    /// `PING_INTERVAL` …, see `server.py`), whatever `FEATHERS_BACKEND_URL` says. With `PORT`, it has the port of a
    /// server that was killed. It ends with this object.
    public convenience init(variables: [String: String]) {
        self.init(externalURL: nil, variables: variables)
    }

    package init(
        python: PythonInstallation = PythonInstallation(),
        externalURL: URL? = Environment.backendURL,
        variables: [String: String] = [:]
    ) {
        self.python = python
        self.externalURL = externalURL
        self.variables = variables
    }

    /// Where the Feathers services are.
    public func url() async throws -> URL {
        if let externalURL { return externalURL }
        return try await process().services
    }

    /// Where the script server is.
    public func scriptServer() async throws -> URL {
        try await process().script
    }

    /// Where the script server is over TLS.
    public func secureScriptServer() async throws -> SecureScriptServer {
        guard let server = try await process().secureScript else { throw BackendUnavailable.certificate }
        return server
    }

    /// Where WebSockets behave as badly as a test asks for.
    public func webSocketServer() async throws -> WebSocketServer {
        try await process().webSockets
    }

    /// Where the JSON:API server is.
    public func jsonAPI() async throws -> URL {
        try await process().jsonAPI
    }

    /// Ends the server without a word, as a machine that fails does; it does not come back.
    public func kill() async throws {
        try await process().kill()
    }

    private func process() async throws -> BackendProcess {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(with: self.started())
            }
        }
    }

    /// Starts on the first call; a failure is final, so that not every suite waits for the same one.
    private func started() -> Result<BackendProcess, any Error> {
        if let known = outcome.withLock({ $0 }) { return known }
        let result = Result<BackendProcess, any Error> {
            let environment = VirtualEnvironment(package: PackageFolder.url, python: python)
            return try BackendProcess(
                python: try environment.prepared(), folder: PackageFolder.backend, variables: variables)
        }
        outcome.withLock { $0 = result }
        return result
    }
}
