import Feathers
import FeathersTesting
import Testing

@testable import Gateway

@Suite("The events of a gateway", .timeLimit(.minutes(5)))
struct EventsTests {
    @Test("arrive as server-sent events, with a mark where some are missing, until the server shuts down")
    func events() async throws {
        let stand = try Stand()
        try await stand.run { browser, server in
            async let response = browser.send("GET", "/events/messages")
            var written = stand.written.makeAsyncIterator()
            var text = ""
            func next() async { text += await written.next(isolation: #isolation) ?? "" }
            await next()
            stand.connection.emit(.created, of: "messages", ["id": 1, "text": "a\nb"])
            await next()
            stand.connection.drop()
            stand.connection.restore()
            await next()
            stand.connection.emit(.removed, of: "messages", ["id": 1])
            await next()
            await server.triggerGracefulShutdown()
            let received = try await response
            #expect(received.status == 200 && received.fields["Content-Type"] == "text/event-stream")
            #expect(received.text == text)
            #expect(
                text == """
                    : listening
                    id: 1

                    event: created
                    data: {"id":1,"text":"a\\nb"}

                    event: gap
                    data: null

                    event: removed
                    data: {"id":1}


                    """)
        }
    }

    @Test("that a reader missed before the first connection are a gap, and a silent stream has heartbeats")
    func beforeConnection() async throws {
        let stand = try Stand()
        stand.connection.drop()
        try await stand.run(isConnected: false) { browser, server in
            async let response = browser.send("GET", "/events/messages")
            var written = stand.written.makeAsyncIterator()
            #expect(await written.next(isolation: #isolation) == ": listening\nid: 1\n\n")
            stand.connection.restore()
            #expect(await written.next(isolation: #isolation) == "event: gap\ndata: null\n\n")
            EventUpkeep(app: stand.app, paths: ["messages"]).emit(.heartbeat)
            #expect(await written.next(isolation: #isolation) == ": heartbeat\n\n")
            // A reader that comes now has missed nothing.
            async let later = browser.send("GET", "/events/messages")
            #expect(await written.next(isolation: #isolation) == ": listening\nid: 1\n\n")
            EventUpkeep(app: stand.app, paths: ["messages"]).emit(.connected)
            await server.triggerGracefulShutdown()
            _ = try await response
            #expect(try await later.text == ": listening\nid: 1\n\n")
        }
    }

    @Test("begin with a gap for a reader that comes back, and the metrics show their readers")
    func back() async throws {
        let stand = try Stand()
        try await stand.run { browser, server in
            async let response = browser.send("GET", "/events/messages", fields: ["Last-Event-ID": "1"])
            var written = stand.written.makeAsyncIterator()
            #expect(
                await written.next(isolation: #isolation) == ": listening\nid: 1\n\nevent: gap\ndata: null\n\n")
            let readers = stand.app.metrics.samples.filter { $0.name == "feathers_event_subscribers" }
            #expect(readers.map(\.value) == [1] && readers.first?.labels.map(\.1) == ["messages"])
            await server.triggerGracefulShutdown()
            _ = try await response
        }
    }

    @Test("have a limit of readers, and a reader that leaves makes room")
    func limit() async throws {
        let readers = Readers(limit: 2)
        var seats = [readers.seat(), readers.seat()]
        #expect(seats.allSatisfy { $0 != nil } && readers.seat() == nil)
        seats.removeLast()
        #expect(readers.seat() != nil)
        try await Stand(maximumReaders: 0).run { browser, _ in
            let response = try await browser.send("GET", "/events/messages")
            #expect(response.status == 503 && response.fields["Retry-After"] == "5")
        }
    }

    @Test("of a service that isn't public do not arrive")
    func notPublic() async throws {
        try await Stand().run { browser, _ in
            let response = try await browser.send("GET", "/events/users")
            #expect(response.status == 404 && response.text.contains("no public events"))
        }
    }
}
