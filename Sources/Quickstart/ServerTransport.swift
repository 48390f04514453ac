import Feathers
import Foundation

/// How the quickstart reaches a server.
enum ServerTransport: String, CaseIterable {
    case rest, socketio

    /// All of them, as a sentence names them.
    static let names = allCases.map { "'\($0.rawValue)'" }.joined(separator: " and ")

    /// An app that reaches the server this way.
    func app(for server: URL) -> FeathersApp {
        switch self {
        case .rest: FeathersApp(transport: .rest(server, timeout: .seconds(10)))
        case .socketio: FeathersApp(transport: .socketIO(server) { $0.reconnection = .never })
        }
    }

    var description: String {
        switch self {
        case .rest: "REST"
        case .socketio: "Socket.IO"
        }
    }
}
