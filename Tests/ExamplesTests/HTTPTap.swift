import Foundation

@testable import EventStream

/// A bare HTTP client: what it asks, and whatever comes.
final class HTTPTap: Sendable {
    private let client: Client

    /// Asks a server of this machine for a target.
    init(_ target: String, port: UInt16) throws {
        let descriptor = try Listener.check(socket(AF_INET, Listener.streams, 0))
        var address = Listener.address(port)
        _ = try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try Listener.check(connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)))
            }
        }
        client = Client(descriptor)
        _ = client.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    /// What comes from here on until it fulfils a condition, or ends.
    func text(until condition: (String) -> Bool) async -> String {
        var text = ""
        for await bytes in client.bytes {
            text += String(decoding: bytes, as: UTF8.self)
            if condition(text) { break }
        }
        return text
    }

    /// The whole answer.
    static func answer(_ target: String, port: UInt16) async throws -> String {
        try await HTTPTap(target, port: port).text { _ in false }
    }
}
