import CCounters
import Feathers
import Foundation

/// Open connections that do nothing, and the memory that they hold.
///
/// Both figures are differences between before and after opening. Run it first in a process: memory that was freed earlier is used again, and is then
/// missing from the resident size.
struct IdleConnections: CustomStringConvertible {
    private let apps: [FeathersApp]
    /// The growth of the resident size, in bytes.
    private let residentBytes: Int
    /// The growth of what is allocated and not freed, in bytes; nil where the C library does not tell.
    private let allocatedBytes: Int?

    /// Opens connections over Socket.IO, 32 at a time: each opening uses a thread while it lasts.
    static func open(_ count: Int, to url: URL) async throws -> IdleConnections {
        // What every first connection of a process brings along: libcurl, the loop's thread, metadata.
        let first = try await connected(to: url)
        let (resident, allocated) = (Self.resident, Self.allocated)
        let apps = try await withThrowingTaskGroup(of: FeathersApp.self) { group in
            var apps: [FeathersApp] = []
            for index in 0..<count {
                if index >= 32, let app = try await group.next() { apps.append(app) }
                group.addTask { try await connected(to: url) }
            }
            return try await group.reduce(into: apps) { $0.append($1) }
        }
        return IdleConnections(
            apps: apps + [first], residentBytes: Self.resident - resident,
            allocatedBytes: Self.allocated.flatMap { now in allocated.map { now - $0 } })
    }

    /// Makes calls, 64 at a time, over the connections in turn.
    func call(times: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<times {
                if index >= 64 { try await group.next() }
                group.addTask { [app = apps[index % apps.count]] in _ = try await app.service("messages").get(1) }
            }
            try await group.waitForAll()
        }
    }

    func close() async {
        await withTaskGroup(of: Void.self) { group in
            for app in apps { group.addTask { await app.disconnect() } }
        }
    }

    var description: String {
        let count = Double(apps.count - 1)
        let allocated = allocatedBytes.map { String(format: ", %.1f KB of it allocated", Double($0) / count / 1_024) } ?? ""
        return "\(count.grouped) idle connections: "
            + String(format: "%.1f KB of memory each", Double(residentBytes) / count / 1_024) + allocated
    }

    private static func connected(to url: URL) async throws -> FeathersApp {
        let app = FeathersApp(transport: .socketIO(url) { $0.transports = [.webSocket] })
        try await app.connect()
        return app
    }

    private static var resident: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
    }

    private static var allocated: Int? {
        let bytes = Int(ccounters_allocated_bytes())
        return bytes < 0 ? nil : bytes
    }
}
