import FeathersCore
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import Testing

@testable import FeathersREST

private struct Note: Codable, Sendable, Equatable { var text: String }

@Suite("Event sources of any server", .timeLimit(.minutes(10)))
struct EventSourceTests {
    private let streams = SampleStreams()

    private func app(timeout: Duration? = .seconds(60)) -> FeathersApp {
        let url = URL(string: "http://sample.test/api")!
        return FeathersApp(transport: .rest(url, headers: ["X-App": "1"], timeout: timeout, httpClient: streams))
    }

    @Test("are read as models, and opened again with the last id and the server's delay")
    func reading() async throws {
        let notes = Locked<[Note]>([])
        let (app, clock) = (app(timeout: nil), NotedClock())
        let stream = app.eventSource(
            "notifications", as: Note.self, query: ["since": 1], headers: ["X-Own": "2"], lastEventID: "0", clock: clock
        )
        let reader = Task {
            for try await note in stream { notes.withLock { $0.append(note) } }
        }
        let first = try await streams.opening(1)
        #expect(first.request.url.absoluteString == "http://sample.test/api/notifications?since=1")
        #expect(first.request.headers["Accept"] == "text/event-stream")
        #expect(first.request.headers["X-App"] == "1" && first.request.headers["X-Own"] == "2")
        #expect(first.request.headers["Last-Event-ID"] == "0")
        first.accept(type: "text/event-stream; charset=utf-8")
        first.send("retry: 7000\nid: 7\ndata: {\"text\":\ndata: \"a\"}\n\n")
        first.fail(HTTPClientError(.connectionLost, "The connection was lost"))
        let second = try await streams.opening(2)
        #expect(second.request.headers["Last-Event-ID"] == "7")
        second.accept()
        second.send("data: {\"text\":\"b\"}\n\n")
        second.end()
        let third = try await streams.opening(3)
        #expect(third.request.headers["Last-Event-ID"] == "7")
        third.pipe.end(.success(HTTPResponse(status: 204, url: third.request.url)))
        try await reader.value
        #expect(notes.withLock { $0 } == [Note(text: "a"), Note(text: "b")])
        #expect(streams.count == 3)
        #expect(clock.sleeps == [.seconds(7), .seconds(7)])
    }

    @Test(
        "are those of the signed-in user: a sign-in replaces the connection, with the last id only for the same user",
        .timeLimit(.minutes(10)), arguments: ["bob", "alice"])
    func users(_ next: String) async throws {
        let app = app()
        app.setIdentity(Identity("alice"))
        let notes = app.eventSource("notifications", as: String.self)
        let hasRead = Promise<Void>()
        let reader = Task {
            try await notes.prefix(2).reduce(into: [String]()) { read, note in
                read.append(note)
                hasRead.resolve(())
            }
        }
        let hers = try await streams.opening(1)
        hers.accept()
        hers.send("id: 7\ndata: of alice\n\n")
        try await hasRead.value()
        // Nothing arrives any more, so only the sign-in can end the connection.
        app.setIdentity(Identity(next))
        let his = try await streams.opening(2)
        #expect(his.request.headers["Last-Event-ID"] == (next == "alice" ? "7" : nil))
        hers.send("data: also of alice\n\n")
        his.accept()
        his.send("data: of bob\n\ndata: also of bob\n\n")
        #expect(try await reader.value == ["of alice", "of bob"])
    }

    @Test("end with the app, whether they are open or wait for their next connection", arguments: [true, false])
    func shutDown(isOpen: Bool) async throws {
        let app = FeathersApp()
        let transport = RESTTransport.rest(URL(string: "http://sample.test/api")!, httpClient: streams)
        let texts = app.eventSource("log", as: String.self, over: transport)
        let hasRead = Promise<Void>()
        let reader = Task {
            for try await _ in texts { hasRead.resolve(()) }
        }
        let opening = try await streams.opening(1)
        opening.accept()
        opening.send("retry: 3600000\ndata: a\n\n")
        try await hasRead.value()
        if !isOpen { opening.fail(HTTPClientError(.connectionLost, "The connection was lost")) }
        await app.shutDown(within: .zero)
        await #expect(throws: FeathersError.self) { try await reader.value }
    }

    @Test("may be texts, chosen by their names")
    func texts() async throws {
        let stream = app().eventSource("log", as: String.self, named: "line")
        async let texts = stream.prefix(2).reduce(into: [String]()) { $0.append($1) }
        let opening = try await streams.opening(1)
        opening.accept()
        opening.send("data: no\n\nevent: line\ndata: a\ndata: b\n\nevent: other\ndata: no\n\nevent: line\ndata: c\n\n")
        #expect(try await texts == ["a\nb", "c"])
    }

    @Test("that are refused, or are something else, throw what the server says")
    func refusals() async throws {
        func failure(_ respond: (SampleStreams.Opening) -> Void) async throws -> String {
            let number = streams.count + 1
            let reader = Task { [app = app()] in
                for try await _ in app.eventSource("notifications", as: Note.self) {}
            }
            respond(try await streams.opening(number))
            guard case .failure(let error) = await reader.result else { return "" }
            return "\(error)"
        }
        #expect(
            try await failure { $0.refuse(401, #"{"name":"NotAuthenticated","message":"Who?","code":401}"#) }.contains(
                "Who?"))
        #expect(try await failure { $0.accept(type: "text/html") }.contains("'text/html' instead of an event stream"))
        #expect(
            try await failure {
                $0.accept()
                $0.send("data: {}\n\n")
            }.contains("An event of notifications cannot be decoded as Note"))
    }

    @Test("that are redirected to another origin are refused, and read within their own")
    func redirects() async throws {
        let reader = Task { [app = app()] in
            try await app.eventSource("notifications", as: Note.self).first { _ in true }
        }
        let opening = try await streams.opening(1)
        opening.accept(at: URL(string: "https://sample.test/s3cret?token=s3cret"))
        opening.send("data: {\"text\":\"a\"}\n\n")
        let error = await #expect(throws: FeathersError.self) { _ = try await reader.value }.map { "\($0)" } ?? ""
        #expect(error.contains("redirected the event stream from http://sample.test to https://sample.test"))
        #expect(!error.contains("s3cret"))
        let stream = app().eventSource("notifications", as: Note.self)
        async let first = stream.first { _ in true }
        let second = try await streams.opening(2)
        second.accept(at: URL(string: "http://sample.test:80/elsewhere"))
        second.send("data: {\"text\":\"b\"}\n\n")
        #expect(try await first == Note(text: "b"))
    }

    @Test(
        "whose server redirects where no request may follow throw that",
        arguments: [HTTPClientError.Kind.invalidRedirect, .tooManyRedirects])
    func invalidRedirects(_ kind: HTTPClientError.Kind) async throws {
        let reader = Task { [app = app(timeout: nil)] in
            for try await _ in app.eventSource("notifications", as: Note.self, clock: NotedClock()) {}
        }
        try await streams.opening(1).fail(HTTPClientError(kind, "The server redirected"))
        let isRepeated = Task {
            _ = try await streams.opening(2)
            reader.cancel()
        }
        defer { isRepeated.cancel() }
        let error = await #expect(throws: FeathersError.self) { _ = try await reader.value }.map { "\($0)" } ?? ""
        #expect(error.contains("The server redirected"))
        #expect(streams.count == 1)
    }

    @Test("throw for an event that is not JSON, and go on with the next one")
    func undecodable() async throws {
        let reader = Task { [app = app()] () -> (failure: String, next: Note?) in
            var events = app.eventSource("notifications", as: Note.self).makeAsyncIterator()
            var failure = ""
            do { _ = try await events.next() } catch { failure = "\(error)" }
            return (failure, try await events.next())
        }
        let opening = try await streams.opening(1)
        opening.accept()
        opening.send("data: nope\n\ndata: {\"text\":\"b\"}\n\n")
        let (failure, next) = try await reader.value
        #expect(failure.contains("An event of notifications cannot be decoded as Note"))
        #expect(next == Note(text: "b"))
    }

    @Test("run the app's hooks for each connection")
    func hooks() async throws {
        let app = app()
        app.use(hooks: Hooks(before: [{ $0.params.headers["X-Hook"] = "yes" }]))
        let reader = Task { for try await _ in app.eventSource("notifications", as: Note.self) {} }
        #expect(try await streams.opening(1).request.headers["X-Hook"] == "yes")
        reader.cancel()
        _ = await reader.result
        try await streams.waitForEnds(1)
    }
}
