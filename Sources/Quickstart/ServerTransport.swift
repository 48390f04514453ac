import Feathers
import Foundation

/// The transport to a server.
enum ServerTransport: String, CaseIterable {
    case rest, socketio

    /// All transports, as words for a sentence.
    static let names = allCases.map { "'\($0.rawValue)'" }.joined(separator: " and ")

    /// Returns an app that uses this transport.
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
