import Feathers
import FeathersSupport

/// One client, which takes the steps of the script.
struct SwarmClient {
    private let number: Int
    private let app: FeathersApp
    private let script: Script
    private let tally: Tally
    private let meetings: [Meeting]
    private let openings: Slots
    private let received: [EventCount]

    /// - Throws: The error if sign-in cannot be set up.
    init(_ number: Int, _ app: FeathersApp, _ script: Script, _ tally: Tally, _ meetings: [Meeting], _ openings: Slots) throws {
        (self.number, self.app, self.script, self.tally, self.meetings, self.openings) = (number, app, script, tally, meetings, openings)
        received = script.lines.map { _ in EventCount() }
        // Before the connection is opened, so that it is prepared for the sign-in.
        if script.signsIn { try app.use(authentication: AuthenticationOptions()) }
    }

    func run() async {
        await withTaskGroup(of: Void.self) { readers in
            var index = 0
            while index < script.lines.count, !Task.isCancelled {
                if number <= script.lines[index].clients ?? .max, await !take(index, &readers) { break }
                index += 1
            }
            // The others no longer wait for this client.
            for meeting in meetings[index...] where number <= meeting.parties { meeting.leave() }
            readers.cancelAll()
        }
        await app.disconnect()
    }

    /// Takes a step as often as the script says.
    /// - Returns: Whether the client goes on. Without a connection, or not signed in, it does not.
    private func take(_ index: Int, _ readers: inout TaskGroup<Void>) async -> Bool {
        let line = script.lines[index]
        let start = ContinuousClock.now
        for repetition in 1...line.times {
            do {
                if let interval = line.interval, repetition > 1 { try await Task.sleep(until: start + interval * (repetition - 1)) }
                try await perform(line.step, index, repetition, &readers)
            } catch is CancellationError {
                return false
            } catch {
                tally.failed(index, error)
                switch line.step {
                case .connect, .authenticate: return false
                default: break
                }
            }
        }
        return true
    }

    private func perform(_ step: Script.Step, _ index: Int, _ repetition: Int, _ readers: inout TaskGroup<Void>) async throws {
        switch step {
        case .connect:
            try await openings.withSlot { try await tally.measuring(index) { try await app.connect() } }
        case .disconnect: await app.disconnect()
        case .together: await meetings[index].meet()
        case .pause(let duration): try await Task.sleep(for: duration)
        case .authenticate(let template):
            let fields = try JSONValue(parsing: template.text(client: number, number: repetition)).object ?? [:]
            try await tally.measuring(index) {
                _ = try await app.authenticate(AuthenticationCredentials(strategy: fields["strategy"]?.string, fields: fields))
            }
        case .call(let method, let path, let id, let data):
            let data = try data.map { try JSONValue(parsing: $0.text(client: number, number: repetition)) }
            let id = id.map { $0.text(client: number, number: repetition) }.map { text in
                Int64(text).map { ServiceID($0) } ?? ServiceID(text)
            }
            let service = app.service(path)
            try await tally.measuring(index) { try await Self.call(method, of: service, id ?? 0, data ?? .null) }
        case .listen(let path, let event, let property):
            let (events, count) = (app.service(path).events(event, bufferingNewest: 65_536), received[index])
            readers.addTask { [tally] in
                for await event in events {
                    let sent = property.flatMap { event[$0]?.integer }
                    tally.succeeded(index, after: sent.map { .microseconds(max(0, Template.now - $0)) })
                    count.increase()
                }
            }
        case .wait(let count, let path, let event, let limit):
            guard let heard = listening(to: path, event, before: index) else {
                throw FeathersError(.badRequest, "There is no 'listen \(path) \(event.rawValue)' before this line")
            }
            try await tally.measuring(index) { try await heard.wait(for: count, limit) }
        }
    }

    private static func call(_ method: ServiceMethod, of service: UntypedService, _ id: ServiceID, _ data: JSONValue) async throws {
        switch method {
        case .find: _ = try await service.find(Query(data.object ?? [:]))
        case .get: _ = try await service.get(id)
        case .create: _ = try await service.create(data)
        case .update: _ = try await service.update(id, with: data)
        case .patch: _ = try await service.patch(id, with: data)
        case .remove: _ = try await service.remove(id)
        default: _ = try await service.call(method, with: data)
        }
    }

    /// The events that the last `listen` before a line has received.
    private func listening(to path: String, _ event: EventName, before index: Int) -> EventCount? {
        let line = script.lines[..<index].lastIndex { line in
            if case .listen(path, event, _) = line.step { true } else { false }
        }
        return line.map { received[$0] }
    }
}

/// How many events a client has received. One task at a time waits for them.
final class EventCount: Sendable {
    private let state = Locked((count: 0, wanted: Int.max, reached: Promise<Void>()))

    func increase() {
        let reached = state.withLock { state -> Promise<Void>? in
            state.count += 1
            return state.count >= state.wanted ? state.reached : nil
        }
        reached?.resolve(())
    }

    /// Waits until there were so many events.
    /// - Throws: ``FeathersError/Code/timeout`` if that takes longer than the limit.
    func wait(for count: Int, _ limit: Duration) async throws {
        let reached = state.withLock { state -> Promise<Void> in
            (state.wanted, state.reached) = (count, Promise())
            if state.count >= count { state.reached.resolve(()) }
            return state.reached
        }
        let late = FeathersError(.timeout, "Fewer events than expected arrived in time")
        try await RelativeClock(ContinuousClock()).run(atMost: limit, orThrow: late) { try await reached.value() }
    }
}

/// A point where clients wait for each other. It ends, because every client that does not arrive leaves: all other waits are bounded.
final class Meeting: Sendable {
    let parties: Int
    private let missing: Locked<Int>
    private let complete = Promise<Void>()

    init(of parties: Int) { (self.parties, missing) = (parties, Locked(parties)) }

    func meet() async {
        leave()
        try? await complete.value()
    }

    /// Does not wait, or no longer takes part.
    func leave() {
        let isComplete = missing.withLock { missing in
            missing -= 1
            return missing <= 0
        }
        if isComplete { complete.resolve(()) }
    }
}

/// Limits how many clients do the same thing at once.
actor Slots {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) { free = count }

    nonisolated func withSlot(_ body: () async throws -> Void) async throws {
        await take()
        do { try await body() } catch {
            await leave()
            throw error
        }
        await leave()
    }

    private func take() async {
        if free > 0 { free -= 1 } else { await withCheckedContinuation { waiting.append($0) } }
    }

    private func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
