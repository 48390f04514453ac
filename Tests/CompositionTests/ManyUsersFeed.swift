import Feathers
import FeathersSupport
import FeathersTesting

/// What the server pushes over the connection of an app that acts for many users: numbered events for the app's own
/// user, some of which are lost with the connection.
///
/// The law: a stream gets these events only, in order, and a gap where some are missing. It gets nothing that a user's
/// call was told, and a stream of a user gets nothing at all.
final class ManyUsersFeed: Sendable {
    static let path = "messages"

    let connection = StubRealTimeTransport(pushesEvents: false)
    private let state = Locked((last: 0, isDown: false))

    /// Waits until events arrive.
    func isOpen() async throws {
        try await connection.waitForStatus { if case .connected = $0 { true } else { false } }
    }

    /// Pushes the next event, and returns its number.
    @discardableResult
    func push() -> Int {
        state.withLock { state in
            state.last += 1
            connection.emit(.created, of: Self.path, ["user": "own", "number": .integer(Int64(state.last))])
            return state.last
        }
    }

    /// Pushes an event while the connection is lost, and returns its number.
    func pushWithoutConnection() -> Int {
        let isDropped = state.withLock { state in
            defer { state.isDown = true }
            if !state.isDown { connection.drop(.pingTimeout) }
            return !state.isDown
        }
        let number = push()
        // Whoever has dropped the connection restores it.
        if isDropped {
            state.withLock { state in
                state.isDown = false
                connection.restore()
            }
        }
        return number
    }

    /// Reads a stream of the app's own user until an event or what stands for it, and returns what is wrong.
    static func read(
        _ stream: AsyncStream<EventDelivery<ServiceEvent>>, until number: Int, gapCounts: Bool = true
    ) async -> [String] {
        var (last, hasGap, wrong) = (Int?.none, false, [String]())
        for await delivery in stream {
            switch delivery {
            case .gap:
                hasGap = true
                if gapCounts { return wrong }
            case .event(let event):
                guard event.data["user"] == "own", let next = event.data["number"]?.integer.map({ Int($0) }) else {
                    wrong.append("the stream got \(event.name) with \(event.data)")
                    continue
                }
                if let last, next <= last || (next > last + 1 && !hasGap) {
                    wrong.append("the stream got \(next) after \(last)")
                }
                (last, hasGap) = (next, false)
                if next >= number { return wrong }
            }
        }
        return wrong + ["the stream ended before \(number)"]
    }

    /// Opens and closes streams as a user's request does, and returns what is wrong.
    func streams(of user: Int, _ app: FeathersApp, _ draws: inout SeededGenerator) async -> [String] {
        let service = app.service(Self.path)
        switch Int.random(in: 0..<3, using: &draws) {
        case 0:
            // A user has no events here, so the stream ends at once.
            let stream = await app.withToken("user-\(user)") { service.eventDeliveries() }
            push()
            return await stream.reduce(into: []) { $0.append("user \(user)'s stream got \($1)") }
        case 1:
            let stream = await app.asOwnUser { service.eventDeliveries() }
            let number = pushWithoutConnection()
            return await Self.read(stream, until: number)
        default:
            // It stays the app's own, whoever reads it.
            return await app.withToken("user-\(user)") {
                let stream = await app.asOwnUser { service.eventDeliveries() }
                let number = push()
                return await Self.read(stream, until: number)
            }
        }
    }
}
