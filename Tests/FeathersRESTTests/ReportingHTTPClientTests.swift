import FeathersCore
import FeathersNetworking
import FeathersREST
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("The report of an HTTP exchange")
struct ReportingHTTPClientTests {
    private let http = StubHTTPClient()

    private actor Fetching: ServiceProtocol {
        let client: ReportingHTTPClient
        let request: HTTPRequest

        init(client: ReportingHTTPClient, request: HTTPRequest) {
            (self.client, self.request) = (client, request)
        }

        func find(_ params: Params) async throws -> JSONValue {
            .integer(Int64(try await client.execute(request).status))
        }
    }

    /// The events of a call that makes one request.
    private func report(
        of request: HTTPRequest, levels: DiagnosticLevels = DiagnosticLevels(.info, [.http: .debug]),
        verbosity: DiagnosticVerbosity = .brief
    ) async throws -> [DiagnosticEvent] {
        let app = FeathersApp()
        let events = Locked<[DiagnosticEvent]>([])
        app.use(
            diagnostics: ClosureDiagnosticSink { event in events.withLock { $0.append(event) } }, levels: levels,
            verbosity: verbosity)
        let service = try await app.use(Fetching(client: ReportingHTTPClient(http), request: request), at: "m")
        _ = try? await service.rawFind()
        return events.withLock { $0 }
    }

    private func request(_ text: String, _ method: String = "GET", body: String? = nil, type: String? = nil) throws
        -> HTTPRequest
    {
        var headers = HTTPHeaders()
        try headers.set("Authorization", to: "Bearer s3cret")
        if let type { try headers.set("Content-Type", to: type) }
        return HTTPRequest(
            method: method, url: try #require(URL(string: text)), headers: headers, body: body.map { Array($0.utf8) })
    }

    @Test("says that its client ended all requests, which the reporting client passes on", .timeLimit(.minutes(10)))
    func cancellingAll() async throws {
        let (arrived, continuation) = AsyncStream.makeStream(of: Void.self)
        let stub = StubHTTPClient { _ in
            continuation.yield()
            return try await Promise<HTTPResponse>().value()
        }
        let client = ReportingHTTPClient(stub)
        let request = try request("http://a.test/slow")
        let call = Task { try await client.execute(request) }
        for await _ in arrived { break }
        client.cancelAll()
        let error = try await #require(throws: HTTPClientError.self) { try await call.value }
        #expect(error.kind == .closed && error.delivery == .mayHaveExecuted && error.host == "a.test")
        stub.stub("/quick", with: .status(204))
        #expect(try await client.execute(self.request("http://a.test/quick")).status == 204)
    }

    @Test("belongs to its call and says method, URL, status and duration")
    func exchange() async throws {
        http.stub("/a", with: .json(1))
        let events = try await report(of: request("https://user:s3cret@a.test:8443/a?x=1&user%5Bpassword%5D=s3cret"))
        #expect(events.map(\.domain) == [.http, .calls] && events.map(\.level) == [.debug, .info])
        #expect(events[0].message.hasPrefix("GET https://a.test:8443/a?x=1&user%5Bpassword%5D=<redacted> 200 ("))
        #expect(events[0].callID != nil && events[0].callID == events[1].callID)
        #expect(events[0][.status] == 200 && events[0][.method] == "GET" && events[0].duration != nil)
        #expect(events[0][.headers] == nil && events[0][.result] == nil)
        #expect(!"\(events)".contains("s3cret"))
    }

    @Test(
        "matters more where the answer is an error, or none came",
        arguments: [
            (HTTPStub.status(399), DiagnosticLevel.debug, "399"), (.status(404), .notice, "404"),
            (.status(503), .notice, "503"),
            (.error(HTTPClientError(.cannotConnect, "Nobody listens")), .notice, "failed: Nobody listens"),
            (.error(CancellationError()), .debug, "cancelled"),
        ])
    func levels(_ stub: HTTPStub, _ level: DiagnosticLevel, _ outcome: String) async throws {
        http.stub("/a", with: stub)
        let events = try await report(of: request("http://a.test/a"))
        #expect(events.first?.level == level)
        #expect(events.first?.message.hasPrefix("GET http://a.test/a \(outcome) (") == true)
        #expect(
            try await report(of: request("http://a.test/a"), levels: DiagnosticLevels(nil, [.http: .warning])).isEmpty)
    }

    @Test("tells bodies and header fields where it is verbose, only of kinds it can redact")
    func verbose() async throws {
        http.stub(
            "/json", with: .json(["token": "s3cret", "a": 1], headers: ["Set-Cookie": "sid=s3cret", "X-Kind": "test"]))
        http.stub("/text", with: .bytes(Array("s3cret".utf8), headers: ["Content-Type": "text/plain"]))
        let json = try await report(
            of: request("http://a.test/json", "POST", body: #"{"password":"s3cret","n":1}"#, type: "application/json"),
            verbosity: .verbose())[0]
        #expect(json[.data] == #"{"password":"<redacted>","n":1}"#)
        #expect(json[.headers] == .json(["Authorization": "<redacted>", "Content-Type": "application/json"]))
        #expect(json[.result] == #"{"token":"<redacted>","a":1}"#)
        #expect(
            json[.answerHeaders]
                == .json(["Set-Cookie": "<redacted>", "X-Kind": "test", "Content-Type": "application/json"]))
        let form = try await report(
            of: request(
                "http://a.test/text", "POST", body: "a=1&password=s3cret", type: "application/x-www-form-urlencoded"),
            verbosity: .verbose())[0]
        #expect(form[.data] == "a=1&password=<redacted>")
        #expect(form[.result] == "6 bytes")
        #expect(!"\(json)\(form)".contains("s3cret"))
    }

    @Test("comes for transfers too, which stream on where the client can")
    func transfer() async throws {
        http.stub("/a", "PUT", with: .status(201))
        let events = Locked<[DiagnosticEvent]>([])
        let app = FeathersApp()
        app.use(
            diagnostics: .closure { event in events.withLock { $0.append(event) } }, levels: DiagnosticLevels(.trace),
            verbosity: .verbose()
        )
        let client = ReportingHTTPClient(http, diagnostics: app.diagnostics)
        let response = try await client.execute(
            HTTPTransfer(request("http://a.test/a", "PUT"), body: HTTPBody(Array("s3cret".utf8))))
        #expect(response.status == 201)
        #expect(http.requests.first?.body == Array("s3cret".utf8))
        let event = try #require(events.withLock { $0.first })
        #expect(event.message.hasPrefix("PUT http://a.test/a 201 (") && event[.data] == nil)
    }

    @Test("outside of a call goes where its client was told, or nowhere")
    func outside() async throws {
        http.stub("/a", with: .status(204))
        let app = FeathersApp()
        let events = Locked<[DiagnosticEvent]>([])
        app.use(
            diagnostics: .closure { event in events.withLock { $0.append(event) } }, levels: DiagnosticLevels(.trace))
        _ = try await ReportingHTTPClient(http).execute(request("http://a.test/a"))
        #expect(events.withLock { $0.count } == 0)
        _ = try await ReportingHTTPClient(http, diagnostics: app.diagnostics).execute(request("http://a.test/a"))
        #expect(events.withLock { $0.map(\.callID) } == [nil])
    }
}
