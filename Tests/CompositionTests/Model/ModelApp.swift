import Feathers
import FeathersSupport
import Foundation

@testable import FeathersTesting

/// What an app is made of besides its transport; installed in the order of a list.
enum Part: String, Sendable, CaseIterable {
    case cache, authentication, outbox, traffic

    /// Every order of installing all parts.
    static let orders: [[Part]] = {
        func orders(of parts: [Part]) -> [[Part]] {
            guard parts.count > 1 else { return [parts] }
            return parts.flatMap { first in orders(of: parts.filter { $0 != first }).map { [first] + $0 } }
        }
        return orders(of: Part.allCases)
    }()
}

/// An app and its way to a model server.
struct ModelApp: Sendable {
    let app: FeathersApp
    let line: ModelLine

    var connection: StubRealTimeTransport? { line.connection }
}

extension ModelServer {
    /// An app of this server's.
    func app(
        over way: Way, _ parts: [Part] = [.authentication], storage: any TokenStorage = InMemoryTokenStorage(),
        cache: ServiceCache = ServiceCache(), outbox: Outbox? = nil, traffic: [Hooks] = [],
        clock: any Clock<Duration> = ContinuousClock()
    ) throws -> ModelApp {
        let line = ModelLine(to: self, way)
        let app = FeathersApp(transport: line.transport)
        for part in parts {
            switch part {
            case .cache: app.use(cache: cache)
            case .authentication:
                try app.use(
                    authentication: AuthenticationOptions(storage: storage, refresh: .service("refresh-tokens")) {
                        $0.clock = clock
                    })
            case .outbox: if let outbox { try app.use(outbox: outbox) }
            case .traffic: for hooks in traffic { app.use(hooks: hooks) }
            }
        }
        return ModelApp(app: app, line: line)
    }

    /// Lets the server be reached or not, over HTTP and over a connection.
    func setAway(_ isAway: Bool, _ model: ModelApp) {
        state.update { $0.isAway = isAway }
        if isAway { cutStreams() }
        if isAway { model.connection?.drop() } else { model.connection?.restore() }
    }
}

extension ModelApp {
    /// Runs a body with the app running and, where it has a connection, connected.
    func connected(_ body: (FeathersApp) async throws -> Void) async throws {
        try await withFeathersApp(app) { app in
            try await waitUntilConnected()
            try await body(app)
        }
    }

    /// Runs a body with a connection where it needs one, but without the app running and without an event stream: what
    /// the cache stores is not removed by an event that arrives later than a response.
    func withoutStream(_ body: (FeathersApp) async throws -> Void) async throws {
        try await connection?.connect()
        try await body(app)
        await connection?.disconnect()
    }

    func waitUntilConnected() async throws {
        try await connection?.waitForStatus { if case .connected = $0 { true } else { false } }
        guard let stream = line.transport as? Feathers6Transport else { return }
        for await status in stream.statusUpdates() { if case .connected = status { return } }
    }
}

extension FeathersApp {
    @discardableResult
    func signIn(_ user: String) async throws -> AuthenticationResult {
        try await authenticate(.local(email: user, password: "secret of \(user)"))
    }

    var notes: Service<JSONValue> { service("notes") }
}

extension Sequence<JSONValue> {
    /// To whom the server has sent these records.
    var toldUsers: Set<String> { Set(compactMap { $0["told"]?.string }) }
}

/// A folder that is removed with this object; in memory where the system has such a place, so that thousands of writes
/// cost no disk.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        let memory = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        let isUsable = FileManager.default.isWritableFile(atPath: memory.path)
        url = (isUsable ? memory : FileManager.default.temporaryDirectory).appending(
            path: "feathers-composition-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}

/// The failure of a call, for tests that expect one.
func failure<Value: Sendable>(of body: () async throws -> Value) async -> FeathersError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? FeathersError ?? FeathersError(.generalError, "\(error)")
    }
}
