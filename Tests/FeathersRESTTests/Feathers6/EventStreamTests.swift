import FeathersCore
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersREST

@Suite("The event stream of FeathersJS 6", .timeLimit(.minutes(10)))
struct EventStreamTests {
    private let streams = SampleStreams()
    private let sink = SampleSink()
    private let clock = ManualClock()

    private func transport(_ configure: (inout Feathers6Transport.Options) -> Void = { _ in }) -> Feathers6Transport {
        let transport = Feathers6Transport.feathers6(URL(string: "http://sample.test/api/")!) { options in
            options.httpClient = streams
            options.clock = clock
            options.reconnection = ReconnectionPolicy(initialDelay: .seconds(1), jitter: 0)
            configure(&options)
        }
        transport.deliver(to: sink.sink)
        return transport
    }

    /// Runs a transport while the body acts as its server.
    private func running(_ transport: Feathers6Transport, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await transport.run() }
            try await body()
            await transport.disconnect()
            try await group.waitForAll()
        }
    }

    private func status(_ transport: Feathers6Transport, _ isWanted: (ConnectionStatus) -> Bool) async
        -> ConnectionStatus?
    {
        for await status in transport.statusUpdates() where isWanted(status) { return status }
        return nil
    }

    @Test("is opened with Accept, the options' query and header fields, and delivers events in order")
    func events() async throws {
        let transport = transport {
            $0.path = "/events/sse/"
            $0.query = ["room": "blue"]
            $0.headers = ["X-App": "1"]
        }
        try await running(transport) {
            let opening = try await streams.opening(1)
            #expect(opening.request.url.absoluteString == "http://sample.test/api/events/sse?room=blue")
            #expect(opening.request.method == "GET")
            #expect(opening.request.headers["Accept"] == "text/event-stream")
            #expect(opening.request.headers["X-App"] == "1")
            #expect(transport.status == .connecting(attempt: 1))
            opening.accept()
            opening.send(#"data: {"event":"connected","data":{"room":"blue"},"path":"events/sse"}"# + "\n\n")
            #expect(await status(transport) { $0 == .connected(recovered: false) } != nil)
            opening.emit("created", "messages", #"{"id":1}"#)
            opening.emit("typing", "teams/:id/members", "null")
            opening.send("data: {\"event\":\"ping\",\"path\":\"messages\"}\r\n\r\n: comment\n\n")
            opening.emit("connected", "other", "1")
            #expect(
                try await sink.lines(4) == [
                    #"messages created {"id":1}"#, "teams/:id/members typing null", "messages ping null",
                    "other connected 1",
                ])
        }
        #expect(transport.status == .offline)
    }

    @Test(
        "that is refused with a new token too is opened again after a pause, and fails for the caller that waits for it"
    )
    func refusedTwice() async throws {
        let transport = transport()
        transport.use(
            connectionSetup: ConnectionSetup(reconnects: { [weak transport] _ in
                transport?.reopen()
                return true
            }))
        try await running(transport) {
            for number in 1...2 { try await streams.opening(number).refuse(401) }
            _ = await status(transport) { if case .waiting(attempt: 2, _, _) = $0 { true } else { false } }
            try await clock.waitForSleepers(1)
            #expect(streams.count == 2)
        }
        let connected = Task { try await transport.connect() }
        for number in 3...4 { try await streams.opening(number).refuse(401) }
        await #expect { try await connected.value } throws: { FeathersError.Code.notAuthenticated ~= $0 }
    }

    @Test("that is refused with a new token too is not asked for again where no attempt follows")
    func refusedForGood() async throws {
        let transport = transport { $0.reconnection = .never }
        transport.use(
            connectionSetup: ConnectionSetup(reconnects: { [weak transport] _ in
                transport?.reopen()
                return true
            }))
        try await running(transport) {
            for number in 1...2 { try await streams.opening(number).refuse(401) }
            _ = await status(transport) { if case .closed = $0 { true } else { false } }
            // A later sign-in is tried.
            transport.reopen()
            _ = try await streams.opening(3)
            #expect(streams.count == 3)
        }
    }

    @Test("counts a closure's cancellation error as a failed attempt")
    func cancelledHeaders() async throws {
        let transport = transport()
        transport.use(connectionSetup: ConnectionSetup(headers: { throw CancellationError() }))
        try await running(transport) {
            let waiting = await status(transport) { if case .connecting = $0 { false } else { $0 != .offline } }
            guard case .waiting = waiting else {
                Issue.record("\(String(describing: waiting))")
                return
            }
        }
    }

    @Test("is reopened with a gap after every end, with backoff", arguments: ["end", "cut", "overflow"])
    func reconnecting(_ end: String) async throws {
        let transport = transport { $0.maximumEventBytes = 1000 }
        try await running(transport) {
            let first = try await streams.opening(1)
            first.greet()
            first.emit("created", "a", "1")
            _ = try await sink.lines(1)
            switch end {
            case "end": first.end()
            case "cut": first.fail(HTTPClientError(.connectionLost, "The connection was lost"))
            default: first.send("data: " + String(repeating: "x", count: 2000))
            }
            let waiting = await status(transport) { if case .waiting = $0 { true } else { false } }
            guard case .waiting(attempt: 1, delay: .seconds(1), let reason) = waiting else {
                Issue.record("\(String(describing: waiting))")
                return
            }
            switch end {
            case "end": #expect(reason == .transportClose)
            case "cut": #expect(reason == .transportError("The connection was lost"))
            default: #expect(reason == .parseError("A line of the event stream has more than 1000 bytes"))
            }
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            let second = try await streams.opening(2)
            second.greet()
            second.emit("created", "a", "2")
            #expect(try await sink.lines(3) == ["a created 1", "gap reconnected", "a created 2"])
        }
    }

    @Test("begins with a gap if anything was read before it")
    func firstJoin() async throws {
        let transport = transport()
        _ = try await transport.send(ServiceRequest(path: "messages", method: .find))
        try await running(transport) {
            try await streams.opening(1).greet()
            #expect(try await sink.lines(1) == ["gap reconnected"])
        }
    }

    @Test("does not begin with a gap after writes alone")
    func firstJoinAfterWrites() async throws {
        let transport = transport()
        _ = try await transport.send(ServiceRequest(path: "messages", method: .create, data: [:]))
        try await running(transport) {
            let opening = try await streams.opening(1)
            opening.greet()
            opening.emit("created", "a", "1")
            #expect(try await sink.lines(1) == ["a created 1"])
        }
    }

    @Test("that is silent for too long is replaced; comments count as a sign of life")
    func silence() async throws {
        let transport = transport { $0.silenceLimit = .seconds(60) }
        try await running(transport) {
            let first = try await streams.opening(1)
            first.greet()
            _ = await status(transport) { $0 == .connected(recovered: false) }
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(50))
            first.send(": still here\n\n")
            first.emit("created", "a", "1")
            _ = try await sink.lines(1)
            clock.advance(by: .seconds(20))
            #expect(transport.status == .connected(recovered: false))
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(40))
            let waiting = await status(transport) { if case .waiting = $0 { true } else { false } }
            #expect(waiting == .waiting(attempt: 1, delay: .seconds(1), after: .pingTimeout))
            try await streams.waitForEnds(1)
        }
    }

    @Test("that does not begin in time is given up")
    func connectTimeout() async throws {
        let transport = transport { $0.connectTimeout = .seconds(5) }
        let connecting = Task { try await transport.connect() }
        try await streams.opening(1).accept()
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        await #expect { try await connecting.value } throws: { FeathersError.Code.timeout ~= $0 }
        #expect(transport.status == .closed(.transportError("The event stream did not begin within 5.0 seconds")))
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let status: Int
        let body: String
        let words: String
    }

    @Test(
        "is refused for good by statuses that will not change, in words that help",
        arguments: [
            Refusal(
                testDescription: "a version 5 server", status: 404,
                body:
                    #"""
                    {"name":"NotFound","message":"Page not found","code":404,"className":"not-found",\#
                    "data":{"url":"/sse"}}
                    """#,
                words: "is a FeathersJS 5 server, which sends events over Socket.IO: use '.socketIO(url)'"),
            Refusal(
                testDescription: "another path", status: 404,
                body: #"{"name":"NotFound","message":"Path /sse not found","code":404,"className":"not-found"}"#,
                words: "set 'path' to that of its 'SseService'"),
            Refusal(
                testDescription: "no user", status: 401,
                body: #"{"name":"NotAuthenticated","message":"No","code":401}"#, words: "No"),
            Refusal(testDescription: "a wrong user", status: 403, body: "", words: "The server returned status 403"),
        ])
    func refusals(_ refusal: Refusal) async throws {
        let transport = transport()
        let connecting = Task { try await transport.connect() }
        try await streams.opening(1).refuse(refusal.status, refusal.body)
        await #expect { try await connecting.value } throws: { error in
            (error as? FeathersError)?.code.rawValue == refusal.status && "\(error)".contains(refusal.words)
        }
        guard case .closed(.refused(let words)) = transport.status else {
            Issue.record("\(transport.status)")
            return
        }
        #expect(words.contains(refusal.words))
    }

    @Test("is refused for good by JSON in its place")
    func json() async throws {
        let transport = transport()
        let connecting = Task { try await transport.connect() }
        let opening = try await streams.opening(1)
        opening.accept(type: "application/json; charset=utf-8")
        await #expect { try await connecting.value } throws: {
            "\($0)".contains("application/json; charset=utf-8 instead of an event stream at http://sample.test/api/sse")
        }
    }

    @Test("is refused for good if it was redirected to another origin, and may be redirected within its own")
    func redirects() async throws {
        let transport = transport()
        let connecting = Task { try await transport.connect() }
        let opening = try await streams.opening(1)
        opening.accept(at: URL(string: "http://other.test/s3cret?token=s3cret"))
        opening.emit("created", "messages", #"{"id":1}"#)
        await #expect { try await connecting.value } throws: { error in
            "\(error)".contains("redirected the event stream from http://sample.test to http://other.test")
                && !"\(error)".contains("s3cret")
        }
        guard case .closed(.refused) = transport.status else {
            Issue.record("\(transport.status)")
            return
        }
        #expect(sink.lines == [])
        let again = Task { try await transport.connect() }
        let second = try await streams.opening(2)
        second.accept(at: URL(string: "http://sample.test:80/elsewhere"))
        second.send(#"data: {"event":"connected","data":{},"path":"sse"}"# + "\n\n")
        try await again.value
        await transport.disconnect()
    }

    @Test("is opened again after statuses that may change", arguments: [429, 500, 503])
    func temporaryRefusals(_ code: Int) async throws {
        let transport = transport()
        try await running(transport) {
            try await streams.opening(1).refuse(code)
            #expect(await status(transport) { if case .waiting = $0 { true } else { false } } != nil)
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            try await streams.opening(2).greet()
            #expect(await status(transport) { $0 == .connected(recovered: false) } != nil)
        }
    }

    @Test(
        "is opened again after the page of a captive portal",
        arguments: [
            .init(testDescription: "a page", status: 200),
            .init(testDescription: "302 to a page", status: 200, url: "http://portal.test/"),
            .init(testDescription: "302 to JSON", status: 200, type: "application/json", url: "http://portal.test/"),
            .init(testDescription: "302 to no page", status: 404, url: "http://portal.test/"),
            .init(testDescription: "302 that was not followed", status: 302, location: "http://portal.test/"),
            .init(testDescription: "511", status: 511),
        ] as [ForeignResponse])
    func portals(_ portal: ForeignResponse) async throws {
        let transport = transport()
        try await running(transport) {
            let opening = try await streams.opening(1)
            opening.pipe.end(.success(try portal.response(to: opening.request)))
            #expect(await status(transport) { if case .waiting = $0 { true } else { false } } != nil)
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            try await streams.opening(2).greet()
            #expect(await status(transport) { $0 == .connected(recovered: false) } != nil)
        }
    }

    @Test("skips what is no event, and says so")
    func unusable() async throws {
        let said = Locked(0)
        let transport = transport { $0.onUnusableEvent = { _ in said.withLock { $0 += 1 } } }
        try await running(transport) {
            let opening = try await streams.opening(1)
            opening.greet()
            opening.send("data: nope\n\ndata: {\"event\":1}\n\ndata: [1]\n\n")
            opening.emit("created", "a", "1")
            #expect(try await sink.lines(1) == ["a created 1"])
        }
        #expect(said.withLock { $0 } == 3)
    }

    @Test("is opened again when told to, and drops the old stream's events from then on")
    func reopening() async throws {
        let transport = transport()
        try await running(transport) {
            let first = try await streams.opening(1)
            first.greet()
            _ = await status(transport) { $0 == .connected(recovered: false) }
            transport.reopen()
            first.emit("created", "a", "1")
            let second = try await streams.opening(2)
            second.greet()
            second.emit("created", "a", "2")
            #expect(try await sink.lines(2) == ["gap reconnected", "a created 2"])
        }
    }

    @Test("ends while a server is silent, and while it waits for the next attempt")
    func stopping() async throws {
        let transport = transport()
        try await running(transport) { _ = try await streams.opening(1) }
        try await streams.waitForEnds(1)
        #expect(transport.status == .offline)
        try await running(transport) {
            let second = try await streams.opening(2)
            second.greet()
            second.end()
            _ = await status(transport) { if case .waiting = $0 { true } else { false } }
        }
        #expect(transport.status == .offline)
    }

    @Test("waits for the next sign-in after 401, if there is anyone to sign in")
    func waitsForSignIn() async throws {
        let transport = transport()
        transport.use(connectionSetup: ConnectionSetup())
        try await running(transport) {
            try await streams.opening(1).refuse(401)
            #expect(await status(transport) { if case .closed(.refused) = $0 { true } else { false } } != nil)
            transport.reopen()
            try await streams.opening(2).greet()
            #expect(await status(transport) { $0 == .connected(recovered: false) } != nil)
        }
    }

    @Test("asks plugins for its header fields at every attempt, and prepares them before events")
    func setups() async throws {
        let transport = transport()
        let number = Locked(0)
        let log = SampleSink()
        transport.use(
            connectionSetup: ConnectionSetup(
                headers: { ["Authorization": "Bearer \(number.withLock { $0 += 1; return $0 })"] },
                prepare: { _ in log.sink.receiveGap(.identityChanged) }))
        try await running(transport) {
            let first = try await streams.opening(1)
            #expect(first.request.headers["Authorization"] == "Bearer 1")
            first.greet()
            _ = try await log.lines(1)
            first.end()
            _ = await status(transport) { if case .waiting = $0 { true } else { false } }
            transport.retryNow()
            #expect(try await streams.opening(2).request.headers["Authorization"] == "Bearer 2")
        }
    }
}
