import Feathers
import FeathersTesting
import Foundation

/// Where no server listens.
let closedPort = "127.0.0.1:1"

/// A mistake that has no consequence, or another one than the table shows.
struct NotAMistake: Error {}

/// What a call throws.
func thrown(_ call: () async throws -> Void) async throws -> String {
    do { try await call() } catch { return "\(error)" }
    throw NotAMistake()
}

/// The warnings of an app.
struct Warnings {
    private let stream: AsyncStream<DiagnosticEvent>

    init(of app: FeathersApp) {
        let (stream, continuation) = AsyncStream.makeStream(of: DiagnosticEvent.self)
        self.stream = stream
        app.use(
            diagnostics: .closure { continuation.yield($0) },
            levels: DiagnosticLevels(nil, [.calls: .warning, .events: .warning, .http: .warning]))
    }

    func first() async throws -> String { try await stream.first().message }
}

/// The URL that a text spells.
func url(_ text: String) throws -> URL {
    guard let url = URL(string: text) else { throw NotAMistake() }
    return url
}

/// An app whose server has these messages.
func app(with messages: JSONValue) -> FeathersApp {
    let transport = StubTransport()
    transport.stub("messages", .find, with: .value(messages))
    return FeathersApp(transport: transport)
}

/// The model of the samples.
struct Message: Codable, Sendable {
    var id: Int?
    var text: String
    var rating = 0.0
}
