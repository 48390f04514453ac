import FeathersCore
import Foundation

@testable import FeathersSocketIO

/// A client's packet that carries an event, and the call it comes from.
struct RecordedCall: Sendable {
    let packet: SocketPacket
    let text: String

    /// - Parameter text: a packet as it was sent, Engine.IO's type included; nil for any other than an event.
    init?(_ text: String) {
        guard text.hasPrefix("42"), let packet = try? SocketPacketParser.parse(String(text.dropFirst())).packet else {
            return nil
        }
        (self.packet, self.text) = (packet, text)
    }

    /// The packet with another acknowledgement id.
    func text(id: Int) -> String {
        let json = text.drop { $0 != "[" }
        let namespace = packet.namespace == "/" ? "" : packet.namespace + ","
        return "42\(namespace)\(id)\(json)"
    }

    /// The service request that leads to this packet; nil where none does.
    var request: ServiceRequest? {
        guard let array = packet.data?.array, array.count >= 3, let name = array[0].string, let path = array[1].string,
            case .object(let query) = array[array.count - 1]
        else { return nil }
        let method = ServiceMethod(rawValue: name)
        let arguments = Array(array[2..<(array.count - 1)])
        let (place, route) = Self.route(path)
        var request = ServiceRequest(path: place, method: method, params: Params(query: Query(query), route: route))
        switch (method, arguments.count) {
        case (.find, 0): return request
        case (.create, 1), (.custom, 1): request.data = arguments[0]
        case (.get, 1):
            guard let id = ServiceID(arguments[0]) else { return nil }
            request.id = id
        case (.remove, 1), (.update, 2), (.patch, 2):
            guard arguments[0].isNull || ServiceID(arguments[0]) != nil else { return nil }
            request.id = ServiceID(arguments[0])
            if arguments.count > 1 { request.data = arguments[1] }
        default: return nil
        }
        return request
    }

    /// The one service with route parameters is asked for by its template.
    private static func route(_ path: String) -> (path: String, route: [String: String]) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "teams", parts[2] == "members" else { return (path, [:]) }
        return ("teams/:teamId/members", ["teamId": parts[1].removingPercentEncoding ?? String(parts[1])])
    }
}
