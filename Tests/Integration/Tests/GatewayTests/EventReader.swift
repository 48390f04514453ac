import AsyncHTTPClient
import Feathers
import Foundation
import NIOCore
import Synchronization

/// A reader of a gateway's events that connects again when its stream ends, as a browser's event source does.
final class EventReader: Sendable {
    struct Log: Sendable {
        var (openings, gaps) = (0, 0)
        var texts: [String] = []
        /// The number of records, whose texts are consecutive numbers, that are missing without a gap.
        var lost = 0
        var hasGap = false

        mutating func add(_ text: String) {
            if !hasGap, let last = texts.last.flatMap({ Int($0) }), let number = Int(text), number > last + 1 {
                lost += number - last - 1
            }
            hasGap = false
            texts = texts.suffix(100) + [text]
        }
    }

    private struct State {
        var log = Log()
        var stop: AsyncStream<Void>.Continuation?
        var changes: [UUID: AsyncStream<Void>.Continuation] = [:]
    }

    private let client: AsyncHTTPClient.HTTPClient
    private let port: @Sendable () -> Int
    private let state = Mutex(State())

    /// - Parameter port: The port of the gateway that the reader comes to next.
    init(client: AsyncHTTPClient.HTTPClient, port: @escaping @Sendable () -> Int) {
        (self.client, self.port) = (client, port)
    }

    var log: Log { state.withLock { $0.log } }

    func run() async throws {
        let (stopping, stop) = AsyncStream.makeStream(of: Void.self)
        state.withLock { $0.stop = stop }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var id: String?
                while !Task.isCancelled { try? await self.read(&id) }
            }
            for await _ in stopping {}
            group.cancelAll()
        }
    }

    func stop() { state.withLock { $0.stop }?.finish() }

    /// Waits for what the reader has received.
    func reaches(_ condition: (Log) -> Bool) async throws {
        let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        state.withLock { $0.changes[id] = change }
        defer { _ = state.withLock { $0.changes.removeValue(forKey: id) } }
        change.yield()
        for await _ in changes where condition(log) { return }
        try Task.checkCancellation()
    }

    private func read(_ id: inout String?) async throws {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port())/events/messages")
        if let id { request.headers.add(name: "Last-Event-ID", value: id) }
        let response = try await client.execute(request, deadline: .distantFuture)
        var text = ""
        for try await part in response.body {
            text += String(buffer: part)
            while let end = text.range(of: "\n\n") {
                take(text[..<end.lowerBound].split(separator: "\n"), &id)
                text = String(text[end.upperBound...])
            }
        }
    }

    private func take(_ lines: [Substring], _ id: inout String?) {
        var (name, data) = ("", "")
        for line in lines {
            if line.hasPrefix("id: ") { id = String(line.dropFirst(4)) }
            if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
            if line.hasPrefix("data: ") { data = String(line.dropFirst(6)) }
        }
        let text = (try? JSONValue(parsing: data))?["text"]?.string
        let changes = state.withLock { state in
            if lines.first == ": listening" { state.log.openings += 1 }
            if name == "gap" { (state.log.gaps, state.log.hasGap) = (state.log.gaps + 1, true) }
            if name == "created", let text { state.log.add(text) }
            return Array(state.changes.values)
        }
        for change in changes { change.yield() }
    }
}
