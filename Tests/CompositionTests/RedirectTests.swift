import Feathers
import FeathersJSONAPI
import FeathersTesting
import Foundation
import Testing

/// A write runs with its own method and data, or may have been executed; and only a server that got the token says
/// anything about it.
@Suite(.timeLimit(.minutes(5))) struct RedirectTests {
    static let own = "https://api.example.com"
    static let other = "https://other.example.com"

    /// A call that writes.
    struct Write: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let method: String
        let path: String
        let send: @Sendable (FeathersApp) async throws -> Void

        init(
            _ name: String, _ method: String, _ path: String,
            _ send: @escaping @Sendable (FeathersApp) async throws -> Void
        ) {
            (testDescription, self.method, self.path, self.send) = (name, method, path, send)
        }
    }

    static let writes: [Write] = [
        Write("create", "POST", "/notes") { _ = try await $0.service("notes").create(["text": "a"]) },
        Write("update", "PUT", "/notes/1") { _ = try await $0.service("notes").update(1, with: ["text": "a"]) },
        Write("patch", "PATCH", "/notes/1") { _ = try await $0.service("notes").patch(1, with: ["text": "a"]) },
        Write("remove", "DELETE", "/notes/1") { _ = try await $0.service("notes").remove(1) },
        Write("a custom method", "POST", "/notes") {
            _ = try await $0.service("notes").call("archive", with: ["text": "a"])
        },
        Write("an upload", "POST", "/notes") { app in
            _ = try await app.service("notes").upload(.data(Data([1]), contentType: .plainText))
        },
        Write("a streamed result", "POST", "/notes") { app in
            for try await _ in app.service("notes").stream("ask", with: ["text": "a"]) {}
        },
        Write("an endpoint", "POST", "/notes") { app in
            try await app.request(Endpoint<JSONValue>(.post, "notes", body: .json(["text": "a"])))
        },
        Write("a sign-in", "POST", "/authentication") { app in
            try await app.authenticate(.local(email: "a", password: "b"))
        },
    ]

    private func scene(_ method: String, _ path: String, _ status: Int, to location: String)
        throws -> (app: FeathersApp, http: StubHTTPClient)
    {
        let http = StubHTTPClient()
        http.stub(path, method, with: .status(status, headers: ["Location": location]))
        // The redirect's target would take a GET for a success.
        http.stub("/moved", with: .json(["id": 1, "accessToken": "a.e30.c"]))
        http.stub("/moved", "GET", with: .json([["id": 1]]))
        let app = FeathersApp(transport: .rest(try #require(URL(string: Self.own)), httpClient: http))
        try app.use(authentication: AuthenticationOptions(storage: InMemoryTokenStorage()))
        return (app, http)
    }

    @Test(arguments: writes, [301, 302, 303])
    func `A write that would continue as a GET may have been executed`(write: Write, status: Int) async throws {
        let (app, http) = try scene(write.method, write.path, status, to: "/moved")
        let error = await failure { try await write.send(app) }
        let changesMethod = status == 303 || write.method == "POST"
        if changesMethod {
            #expect(error?.execution == .mayHaveExecuted && error?.code == .unavailable)
            #expect(error?.message.contains("\(write.method) to https://api.example.com/moved") == true)
            #expect(http.requests.map(\.method) == [write.method])
        } else {
            #expect(error == nil)
            #expect(http.requests.map(\.method) == [write.method, write.method])
            #expect(http.requests[0].body == http.requests[1].body)
        }
        withExtendedLifetime(app) {}
    }

    @Test(arguments: writes, [307, 308])
    func `A write that is repeated as it is runs with its method and data`(write: Write, status: Int) async throws {
        let (app, http) = try scene(write.method, write.path, status, to: "/moved")
        try await write.send(app)
        #expect(http.requests.map(\.method) == [write.method, write.method])
        #expect(http.requests[0].body == http.requests[1].body)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `A redirect that cannot be followed says nothing about a write, whatever its body`(status: Int) async throws {
        let (app, http) = try scene("POST", "/other", 200, to: "")
        http.stub("/notes", with: .json(["name": "Ann", "code": .integer(Int64(status)), "id": 1], status: status))
        let error = await failure { try await app.service("notes").create(["name": "Ann"]) }
        #expect(error?.execution == .mayHaveExecuted && error?.code == .unavailable)
    }

    @Test func `An endpoint follows such a redirect if it says so`() async throws {
        let (app, http) = try scene("POST", "/notes", 303, to: "/moved")
        var endpoint = Endpoint<JSONValue>(.post, "notes", body: .json(["text": "a"]))
        endpoint.redirects = .follow(maximum: 1)
        #expect(try await app.request(endpoint) == [["id": 1]])
        #expect(http.requests.map(\.method) == ["POST", "GET"])
        endpoint.redirects = .never
        #expect(await failure { try await app.request(endpoint) }?.execution == .mayHaveExecuted)
    }

    @Test(arguments: [302, 303])
    func `JSON:API repeats no write as a GET`(status: Int) async throws {
        let http = StubHTTPClient()
        http.stub("/notes", "POST", with: .status(status, headers: ["Location": "/notes/1"]))
        let app = FeathersApp(transport: .jsonAPI(try #require(URL(string: Self.own)), httpClient: http))
        let error = await failure { try await app.service("notes").create(["text": "a"]) }
        #expect(error?.execution == .mayHaveExecuted)
        #expect(http.requests.map(\.method) == ["POST"])
    }

    @Test(arguments: [true, false], [301, 302, 303])
    func `A queued write that was redirected is sent again with a key, and asks without one`(isKeyed: Bool, status: Int)
        async throws
    {
        let http = StubHTTPClient()
        http.stub(
            "/notes", "POST",
            with: .cycle([
                .status(status, headers: ["Location": "/notes"]), .json(["id": 1, "text": "a"], status: 201),
            ]))
        http.stub("/notes", "GET", with: .json([["id": 7]]))
        let app = FeathersApp(transport: .rest(try #require(URL(string: Self.own)), httpClient: http))
        let folder = try TemporaryFolder()
        let (failures, asked) = AsyncStream.makeStream(of: OutboxFailure.self)
        let outbox = try await Outbox(file: folder.url.appending(path: "writes.outbox")) { options in
            options.isKeyed = isKeyed
            options.retry = OutboxRetry(initialDelay: .milliseconds(1), maximumDelay: .milliseconds(1))
            options.decide = { failure in
                asked.yield(failure)
                return nil
            }
        }
        try app.use(outbox: outbox)
        try await withFeathersApp(app) { app in
            let write = try await app.service("notes").outbox.create(["text": "a"])
            if isKeyed {
                #expect(try await write.result() == ["id": 1, "text": "a"])
                #expect(http.requests.map(\.method) == ["POST", "POST"])
            } else {
                let failure = await failures.first { _ in true }
                #expect(failure?.reason == .unknown && failure?.mayHaveExecuted == true)
                #expect(http.requests.map(\.method) == ["POST"])
            }
        }
        await outbox.close()
    }
}
