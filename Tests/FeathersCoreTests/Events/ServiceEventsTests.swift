import FeathersCore
import FeathersSupport
import Testing

@Suite("Service events")
struct ServiceEventsTests {
    /// Answers every method with its data, `remove` with the id.
    actor Echo: ServiceProtocol {
        func respond(to request: ServiceRequest) async throws -> ServiceResponse {
            ServiceResponse(request.data ?? request.id?.json ?? [1, 2])
        }
    }

    static func echo(_ options: ServiceOptions = ServiceOptions()) async throws -> Service<JSONValue> {
        try await FeathersApp().use(Echo(), at: "echo", options: options)
    }

    @Test("Each changing method ends with its event, the others with none")
    func standardEvents() async throws {
        let echo = try await Self.echo()
        let events = echo.events()
        _ = try await echo.find()
        _ = try await echo.get(1)
        try await echo.create(["a": 1])
        try await echo.update(1, with: ["a": 2])
        try await echo.call("archive", with: ["a": 0])
        try await echo.patch(1, with: ["a": 3])
        try await echo.remove(7)
        #expect(
            await events.taking(4) == [
                ServiceEvent(path: "echo", name: .created, data: ["a": 1]),
                ServiceEvent(path: "echo", name: .updated, data: ["a": 2]),
                ServiceEvent(path: "echo", name: .patched, data: ["a": 3]),
                ServiceEvent(path: "echo", name: .removed, data: 7),
            ])
    }

    @Test("A multi operation ends with one event per record")
    func multi() async throws {
        let echo = try await Self.echo()
        let created = echo.events(.created)
        let removed = echo.events(.removed)
        try await echo.create(contentsOf: [["a": 1], ["a": 2]])
        try await echo.removeAll(query: Query())
        #expect(await created.taking(2) == [["a": 1], ["a": 2]])
        #expect(await removed.taking(2) == [1, 2])
    }

    @Test("Events come after all hooks, and none comes from a call that failed")
    func afterHooks() async throws {
        let echo = try await Self.echo()
        let events = echo.events(.created)
        await echo.use(
            hooks: Hooks(after: [
                .create: [
                    { context in
                        if context.data?["fails"] == true { throw FeathersError(.conflict, "no") }
                        context.result?["late"] = true
                    }
                ]
            ]))
        await #expect(throws: FeathersError.self) { try await echo.create(["fails": true]) }
        try await echo.create(["a": 1])
        #expect(await events.taking(1) == [["a": 1, "late": true]])
    }

    @Test("A hook suppresses or renames the event, or says what it carries")
    func hookedEvents() async throws {
        let echo = try await Self.echo()
        let all = echo.events(nil)
        await echo.use(
            hooks: Hooks(before: [
                .create: [{ $0.event = nil }],
                .patch: [{ $0.event = "renamed" }],
                .update: [{ $0.dispatch = "public part" }],
                "archive": [{ $0.event = "archived" }],
            ]))
        try await echo.create([:])
        try await echo.patch(1, with: ["a": 1])
        try await echo.update(1, with: ["a": 2])
        try await echo.call("archive", with: ["a": 3])
        #expect(
            await all.taking(3) == [
                ServiceEvent(path: "echo", name: "renamed", data: ["a": 1]),
                ServiceEvent(path: "echo", name: .updated, data: "public part"),
                ServiceEvent(path: "echo", name: "archived", data: ["a": 3]),
            ])
    }

    @Test("A service that emits its events itself is not doubled")
    func serviceEvents() async throws {
        let echo = try await Self.echo(ServiceOptions(serviceEvents: [.created]))
        let all = echo.events(nil)
        try await echo.create(["a": 1])
        echo.emit(.created, ["a": "from the service"])
        echo.emit("typing", "Ada")
        try await echo.patch(1, with: [:])
        #expect(
            await all.taking(3) == [
                ServiceEvent(path: "echo", name: .created, data: ["a": "from the service"]),
                ServiceEvent(path: "echo", name: "typing", data: "Ada"),
                ServiceEvent(path: "echo", name: .patched, data: [:]),
            ])
    }

    @Test("A sequence listens from the moment it is made, and each on its own")
    func registration() async throws {
        let echo = try await Self.echo()
        let early = echo.events("typing")
        echo.emit("typing", 1)
        let late = echo.events("typing")
        echo.emit("typing", 2)
        #expect(await early.taking(2) == [1, 2])
        #expect(await late.taking(1) == [2])
    }

    @Test("A slow reader loses the oldest events, and is told how many and where")
    func overflow() async throws {
        let echo = try await Self.echo()
        var deliveries = echo.eventDeliveries(["n"], bufferingNewest: 2).makeAsyncIterator()
        for number in 1...5 { echo.emit("n", .integer(Int64(number))) }
        guard case .gap(let gap)? = await deliveries.next(), case .overflow(dropped: 3) = gap.reason else {
            Issue.record("the gap comes first")
            return
        }
        for expected: JSONValue in [4, 5] {
            guard case .event(let event)? = await deliveries.next() else {
                Issue.record("\(expected) comes after the gap")
                return
            }
            #expect(event.data == expected)
        }
    }

    @Test("A slow reader costs the others nothing")
    func independence() async throws {
        let echo = try await Self.echo()
        let slow = echo.events("n", bufferingNewest: 1)
        let patient = echo.events("n")
        for number in 1...100 { echo.emit("n", .integer(Int64(number))) }
        #expect(await patient.taking(100) == (1...100).map { .integer(Int64($0)) })
        #expect(await slow.taking(1) == [100])
        #expect(echo.app.metrics.events.first?.dropped == 99)
    }

    @Test("Waiting for the next event ends with the task")
    func first() async throws {
        let echo = try await Self.echo()
        let events = echo.events("n")
        for number in 1...3 { echo.emit("n", .integer(Int64(number))) }
        #expect(try await events.first() == 1)

        let waiting = Task { try await echo.events("never").first() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("A stream that is dropped, or whose reader is cancelled, stops listening")
    func ending() async throws {
        let echo = try await Self.echo()
        func readers() -> Int { echo.app.metrics.events.first?.subscribers ?? 0 }
        func listen() { _ = echo.events("n") }
        listen()
        #expect(readers() == 0)

        let reading = Task { for await _ in echo.events("n") {} }
        reading.cancel()
        await reading.value
        #expect(readers() == 0)

        let events = echo.events("n")
        #expect(readers() == 1)
        withExtendedLifetime(events) {}
    }

    @Test("Typed changes come with their kind; what cannot be decoded is a gap and a warning")
    func typedChanges() async throws {
        struct Note: Codable, Sendable, Hashable { var text: String }
        let app = FeathersApp()
        let warnings = Warnings()
        app.use(diagnostics: .closure { event in warnings.add(event) }, levels: DiagnosticLevels(.warning))
        let echo = try await app.use(Echo(), at: "echo").of(Note.self)
        let changes = echo.changes()
        let deliveries = echo.deliveries()
        let typing = echo.events("typing", as: Int.self)
        echo.json.emit(.created, ["text": "a"])
        echo.json.emit(.patched, ["text": 7])
        echo.json.emit(.removed, ["text": "a"])
        echo.json.emit("typing", 3)
        #expect(await changes.taking(2) == [.created(Note(text: "a")), .removed(Note(text: "a"))])
        #expect(warnings.messages.count == 1)
        #expect(warnings.messages.first?.contains("'patched' of service 'echo'") == true)
        #expect(warnings.messages.first?.contains("7") == false)
        var kinds: [String] = []
        for await delivery in deliveries {
            switch delivery {
            case .event(let change): kinds.append(change.name.rawValue)
            case .gap(let gap): if case .undecodable(let event, _) = gap.reason { kinds.append("gap at \(event.name)") }
            }
            if kinds.count == 3 { break }
        }
        #expect(kinds == ["created", "gap at patched", "removed"])
        #expect(try await typing.first() == 3)
    }

    @Test("Two readers of one stream share its events; cancelling one ends both")
    func sharedStream() async throws {
        let echo = try await Self.echo()
        let events = echo.events("n")
        let reader = Task { for await _ in events {} }
        reader.cancel()
        await reader.value
        #expect(await events.taking(1).isEmpty)
    }
}

private final class Warnings: Sendable {
    private let texts = Locked<[String]>([])
    var messages: [String] { texts.withLock { $0 } }
    func add(_ event: DiagnosticEvent) { texts.withLock { $0.append(event.message) } }
}

extension AsyncStream where Element: Sendable {
    /// The next `count` elements.
    func taking(_ count: Int) async -> [Element] {
        var elements: [Element] = []
        for await element in self {
            elements.append(element)
            if elements.count == count { break }
        }
        return elements
    }
}
