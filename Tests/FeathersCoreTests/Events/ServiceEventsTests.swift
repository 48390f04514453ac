import FeathersCore
import Testing

@Suite("Service events")
struct ServiceEventsTests {
    /// Answers every method with its data, `remove` with the id.
    struct Echo: ServiceProtocol {
        func respond(to request: ServiceRequest) async throws -> JSONValue {
            request.data ?? request.id?.json ?? [1, 2]
        }
    }

    static func echo(_ options: ServiceOptions = ServiceOptions()) async throws -> Service {
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
        try await echo.removeAll(matching: Query())
        #expect(await created.taking(2) == [["a": 1], ["a": 2]])
        #expect(await removed.taking(2) == [1, 2])
    }

    @Test("Events come after all hooks, and none comes from a call that failed")
    func afterHooks() async throws {
        let echo = try await Self.echo()
        let events = echo.events(.created)
        await echo.addHooks(
            Hooks(after: [
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
        let all = echo.allEvents()
        await echo.addHooks(
            Hooks(before: [
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
        let all = echo.allEvents()
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

    @Test("A slow reader loses the oldest events, sees how many, and is told where")
    func overflow() async throws {
        let echo = try await Self.echo()
        let events = echo.events("n", buffering: 2)
        for number in 1...5 { echo.emit("n", .integer(Int64(number))) }
        #expect(events.droppedCount == 3)
        var deliveries = events.deliveries.makeAsyncIterator()
        guard case .gap(let gap)? = await deliveries.next(), case .overflow(dropped: 3) = gap.reason else {
            Issue.record("the gap comes first")
            return
        }
        for expected: JSONValue in [4, 5] {
            guard case .event(let event)? = await deliveries.next() else {
                Issue.record("\(expected) comes after the gap")
                return
            }
            #expect(event == expected)
        }
    }

    @Test("A slow reader costs nobody else anything")
    func independence() async throws {
        let echo = try await Self.echo()
        let slow = echo.events("n", buffering: 1)
        let patient = echo.events("n")
        for number in 1...100 { echo.emit("n", .integer(Int64(number))) }
        #expect(await patient.taking(100) == (1...100).map { .integer(Int64($0)) })
        #expect(patient.droppedCount == 0)
        #expect(slow.droppedCount == 99)
    }

    @Test("Waiting for the first event takes a condition, and ends with the task")
    func first() async throws {
        let echo = try await Self.echo()
        let events = echo.events("n")
        for number in 1...3 { echo.emit("n", .integer(Int64(number))) }
        #expect(try await events.first { $0 == 2 } == 2)

        let waiting = Task { try await echo.events("never").first() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test("A sequence that is dropped, or whose reader is cancelled, stops listening")
    func ending() async throws {
        let echo = try await Self.echo()
        func listen() { _ = echo.events("n") }
        listen()
        #expect(!echo.hasEventSubscribers)

        let reading = Task { for await _ in echo.events("n") {} }
        reading.cancel()
        await reading.value
        #expect(!echo.hasEventSubscribers)

        let events = echo.events("n")
        #expect(echo.hasEventSubscribers)
        withExtendedLifetime(events) {}
    }
}

extension ServiceEvents {
    /// The next `count` events.
    func taking(_ count: Int) async -> [Element] {
        var elements: [Element] = []
        for await element in self {
            elements.append(element)
            if elements.count == count { break }
        }
        return elements
    }
}
