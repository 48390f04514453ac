import CCounters
import Feathers
import Foundation

/// Open connections that do nothing, and the memory that they hold.
///
/// Both figures are differences between before and after opening. Run it first in a process: memory that was freed
/// earlier is used again, and is then missing from the resident size.
struct IdleConnections<Connection: Sendable>: CustomStringConvertible {
    fileprivate let connections: [Connection]
    /// The growth of the resident size, in bytes.
    private let residentBytes: Int
    /// The growth of what is allocated and not freed, in bytes; nil if the C library does not report it.
    private let allocatedBytes: Int?

    /// Opens connections, 32 at a time: each opening uses a thread while it lasts.
    static func open(_ count: Int, _ connect: @escaping @Sendable () async throws -> Connection) async throws -> Self {
        // Excludes what only the first connection of a process needs: libcurl, the loop's thread, metadata.
        let first = try await connect()
        let (resident, allocated) = (residentSize(), allocatedSize())
        let connections = try await withThrowingTaskGroup(of: Connection.self) { group in
            var connections: [Connection] = []
            for index in 0..<count {
                if index >= 32, let connection = try await group.next() { connections.append(connection) }
                group.addTask { try await connect() }
            }
            return try await group.reduce(into: connections) { $0.append($1) }
        }
        return IdleConnections(
            connections: connections + [first], residentBytes: residentSize() - resident,
            allocatedBytes: allocatedSize().flatMap { now in allocated.map { now - $0 } })
    }

    var description: String {
        let count = Double(connections.count - 1)
        let allocated =
            allocatedBytes.map { String(format: ", %.1f KB of it allocated", Double($0) / count / 1_024) } ?? ""
        return "\(count.grouped) idle connections: "
            + String(format: "%.1f KB of memory each", Double(residentBytes) / count / 1_024) + allocated
    }
}

extension IdleConnections<FeathersApp> {
    /// Opens connections over Socket.IO, each with an app of its own.
    static func open(_ count: Int, to url: URL) async throws -> Self {
        try await open(count) {
            let app = FeathersApp(transport: .socketIO(url) { $0.transports = [.webSocket] })
            try await app.connect()
            return app
        }
    }

    /// Makes calls, 64 at a time, over the connections in turn.
    func call(times: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<times {
                if index >= 64 { try await group.next() }
                group.addTask { [app = connections[index % connections.count]] in
                    _ = try await app.service("messages").get(1)
                }
            }
            try await group.waitForAll()
        }
    }

    func close() async {
        await withTaskGroup(of: Void.self) { group in
            for app in connections { group.addTask { await app.disconnect() } }
        }
    }
}

extension IdleConnections<any WebSocketConnection> {
    /// Opens WebSockets alone, without Socket.IO and an app above them.
    static func open(_ count: Int, to url: URL) async throws -> Self {
        let address = url.appending(path: "socket.io/").appending(queryItems: [
            URLQueryItem(name: "EIO", value: "4"), URLQueryItem(name: "transport", value: "websocket"),
        ])
        return try await open(count) {
            let socket = try await PlatformWebSocketConnector.make().connect(WebSocketRequest(url: address))
            socket.start { _ in }
            return socket
        }
    }
}

private func residentSize() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
}

private func allocatedSize() -> Int? {
    let bytes = Int(ccounters_allocated_bytes())
    return bytes < 0 ? nil : bytes
}
