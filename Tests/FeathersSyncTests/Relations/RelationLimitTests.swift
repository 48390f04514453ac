import Feathers
import FeathersCore
import FeathersSupport
import Foundation
import Testing

@testable import FeathersSync
@testable import FeathersTesting

/// Servers whose records refer to too much, or whose pages never end.
@Suite("Limits of related records", .timeLimit(.minutes(5)))
struct RelationLimitTests {
    private let requests = Locked<[ServiceRequest]>([])
    private let warnings = Locked<[String]>([])

    private func app(_ respond: @escaping @Sendable (ServiceRequest) async throws -> JSONValue) -> FeathersApp {
        let app = FeathersApp(
            transport: StubTransport { [requests] request in
                requests.withLock { $0.append(request) }
                return try await respond(request)
            })
        app.use(diagnostics: .text { [warnings] line in warnings.withLock { $0.append(line) } })
        app.relationLimits.responseDelay = .seconds(3600)
        return app
    }

    private func requests(of path: String) -> [ServiceRequest] {
        requests.withLock { $0.filter { $0.path == path } }
    }

    /// The ids of a request's `$in`.
    private static func ids(_ request: ServiceRequest, _ property: String = "id") -> [JSONValue] {
        request.params.query.json[property]?["$in"]?.array ?? []
    }

    private static func users(_ request: ServiceRequest) -> JSONValue {
        .array(ids(request).map { ["id": $0, "name": .string("user \($0)")] })
    }

    @Test("leave out the keys of a record after the first ones, and say so")
    func keysOfRecord() async throws {
        let readers = (1...20_000).map { JSONValue.integer($0) }
        let app = app { request in
            request.path == "users"
                ? Self.users(request) : [["id": 1, "text": "a", "readers": .array(readers)], ["id": 2, "text": "b"]]
        }
        let messages = app.service("messages", of: Message.self)
        var live = messages.live(.sorted(by: "id")).including(Message.readers).snapshots.makeAsyncIterator()
        let snapshot = try #require(try await live.next())
        #expect(snapshot[0][Message.readers].map(\.id) == (1...1000).map(String.init))
        #expect(snapshot.map { $0.hasLoaded(Message.readers) } == [false, true])
        #expect(requests(of: "users").count <= 25)
        #expect(requests(of: "users").flatMap { Self.ids($0) }.count == 1000)
        #expect(warnings.withLock { $0.contains { $0.contains("'readers' to 'users'") && $0.contains("1000") } })
    }

    @Test("of 1,000 rows take 50 requests over REST, six at a time")
    func requestsOverREST() async throws {
        struct Progress: Sendable {
            var (arrived, inFlight, most) = (0, 0, 0)
        }
        let progress = ObservedState(Progress())
        let http = StubHTTPClient { request in
            let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
            let ids = items.filter { $0.name.hasPrefix("id[$in]") }.compactMap { $0.value.flatMap { Int64($0) } }
            var records = ids.map { ["id": .integer($0), "name": .string("user \($0)")] as JSONValue }
            if request.url.path.hasSuffix("messages") {
                records = (1...1_000).map { ["id": .integer($0), "text": "a", "authorID": .integer($0)] }
            } else {
                let number = progress.update { progress in
                    progress.arrived += 1
                    progress.inFlight += 1
                    progress.most = max(progress.most, progress.inFlight)
                    return progress.arrived
                }
                // As many as may be on their way arrive before the first response.
                try await progress.wait { $0.arrived >= min((number + 5) / 6 * 6, 50) }
                progress.update { $0.inFlight -= 1 }
            }
            return HTTPResponse(status: 200, body: Array("\(JSONValue.array(records))".utf8), url: request.url)
        }
        let url = try #require(URL(string: "http://localhost:3030"))
        let app = FeathersApp(transport: .rest(url, httpClient: http))
        app.relationLimits.responseDelay = .seconds(3600)
        let messages = app.service("messages", of: Message.self)
        var live = messages.live(.sorted(by: "id")).including(Message.author).snapshots.makeAsyncIterator()
        let snapshot = try #require(try await live.next())
        #expect(snapshot.count == 1_000 && snapshot.allSatisfy { $0[Message.author]?.name == "user \($0.record.id)" })
        #expect(progress.current.arrived == 50 && progress.current.most == 6)
    }

    @Test("leave out keys of a list that has too many, until there is room")
    func keysOfList() async throws {
        let app = app { request in Self.users(request) }
        app.relationLimits.maximumKeysPerList = 2
        _ = try await app.use(
            MemoryService(records: (1...4).map { ["id": .integer($0), "text": "a", "authorID": .integer($0)] }),
            at: "messages")
        let messages = app.service("messages", of: Message.self)
        var live = messages.live(.sorted(by: "id")).including(Message.author).snapshots.makeAsyncIterator()
        let first = try #require(try await live.next())
        #expect(first.filter { $0[Message.author] != nil }.count == 2)
        #expect(first.map { $0.hasLoaded(Message.author) } == first.map { $0[Message.author] != nil })
        #expect(requests(of: "users").flatMap { Self.ids($0) }.count == 2)
        #expect(warnings.withLock { $0.contains { $0.contains("'authorID' to 'users'") } })
        // Those of the rows that are left have room.
        for row in first where row[Message.author] != nil { try await messages.remove(row.record.id) }
        let rest = try await live.next { $0.count == 2 && $0.allSatisfy { $0.hasLoaded(Message.author) } }
        #expect(rest.allSatisfy { $0[Message.author] != nil })
        #expect(Set(requests(of: "users").flatMap { Self.ids($0) }).count == 4)
    }

    @Test("end pages without end", arguments: [false, true])
    func pages(repeating: Bool) async throws {
        let count = Locked(0)
        let app = app { request in
            guard request.path == "reactions" else { return [["id": 1, "text": "a"]] }
            let number = count.withLock { count in
                defer { count += 1 }
                return repeating ? count % 2 : count
            }
            let data = (0..<10).map { index -> JSONValue in
                ["id": .integer(Int64(number * 10 + index)), "messageID": 1, "emoji": "+"]
            }
            return ["total": 1_000_000, "limit": 10, "skip": 0, "data": .array(data)]
        }
        app.relationLimits.maximumPages = 5
        let messages = app.service("messages", of: Message.self)
        var live = messages.live().including(Message.reactions).snapshots.makeAsyncIterator()
        let snapshot = try #require(try await live.next())
        #expect(snapshot[0][Message.reactions].count == (repeating ? 20 : 60))
        #expect(!snapshot[0].hasLoaded(Message.reactions))
        #expect(requests(of: "reactions").count == (repeating ? 3 : 6))
        #expect(warnings.withLock { $0.contains { $0.contains("'reactions'") } })
    }

    @Test("leave out records that only 'get' finds after the first ones, and keep known records")
    func singleReads() async throws {
        let transport = TextServer(requests: requests)
        let app = FeathersApp(transport: transport)
        app.relationLimits.responseDelay = .seconds(3600)
        app.relationLimits.maximumSingleReads = 3
        let messages = app.service("messages", of: Message.self)
        let query = messages.live(.sorted(by: "id")).including(Message.readers)
        var live = query.snapshots.makeAsyncIterator()
        let snapshot = try #require(try await live.next())
        #expect(snapshot[0][Message.readers].count == 3 && !snapshot[0].hasLoaded(Message.readers))
        #expect(requests(of: "users").count { $0.method == .get } == 3)
    }

    /// A server that finds no numbers in queries.
    private struct TextServer: Transport {
        let requests: Locked<[ServiceRequest]>

        func send(_ request: ServiceRequest) async throws -> ServiceResponse {
            requests.withLock { $0.append(request) }
            let readers = JSONValue.array((1...40).map { .integer($0) })
            let result: JSONValue =
                switch (request.path, request.method) {
                case ("messages", _): [["id": 1, "text": "a", "readers": readers]]
                case (_, .get): ["id": request.id?.json ?? .null, "name": "found"]
                default: []
                }
            var response = ServiceResponse(result)
            response[SentQueryAsText.self] = request.path == "users"
            return response
        }
    }

    @Test("let rows show after some time, and their related records later")
    func silence() async throws {
        let (arrived, released) = (Promise<Void>(), Promise<Void>())
        let app = app { request in
            guard request.path == "users" else { return [["id": 1, "text": "a", "authorID": 7]] }
            arrived.resolve(())
            try await released.value()
            return Self.users(request)
        }
        let clock = ManualClock()
        (app.relationLimits.responseDelay, app.relationLimits.clock) = (.seconds(2), clock)
        let messages = app.service("messages", of: Message.self)
        var live = messages.live().including(Message.author).snapshots.makeAsyncIterator()
        let advance = Task {
            try await arrived.value()
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(2))
        }
        var snapshot = try #require(try await live.next())
        #expect(snapshot.map(\.text) == ["a"] && !snapshot[0].hasLoaded(Message.author))
        #expect(snapshot[0][Message.author] == nil)
        released.resolve(())
        snapshot = try #require(try await live.next())
        #expect(snapshot[0].hasLoaded(Message.author) && snapshot[0][Message.author]?.name == "user 7")
        #expect(snapshot.changes.updates == [0])
        try await advance.value
    }

    static let failures: [FeathersError.Code] = [
        .badRequest, .notAuthenticated, .forbidden, .notFound, .generalError, .unavailable,
    ]

    @Test(
        "are not needed when a service fails: the rows stay, and what is missing is fetched again", arguments: failures)
    func failure(code: FeathersError.Code) async throws {
        let isRefused = Locked(true)
        let app = app { request in
            guard request.path == "users" else { return [["id": 1, "text": "a", "authorID": 7]] }
            if isRefused.withLock(\.self) { throw FeathersError(code, "Not now") }
            return Self.users(request)
        }
        app.setIdentity(Identity("ada"))
        let clock = ManualClock()
        let messages = app.service("messages", of: Message.self)
        var live = messages.live().measured(by: clock).including(Message.author).snapshots.makeAsyncIterator()
        let snapshot = try #require(try await live.next())
        #expect(snapshot.map(\.text) == ["a"] && !snapshot[0].hasLoaded(Message.author))
        #expect(snapshot[0].relatedFailure(Message.author)?.code == code)
        isRefused.withLock { $0 = false }
        let pump = Task {
            while true {
                try await clock.waitForSleepers(1)
                clock.advance(by: .seconds(30))
            }
        }
        if code == .forbidden { app.setIdentity(Identity("bob")) }
        let next = try await live.next { $0.first?.hasLoaded(Message.author) ?? false }
        #expect(next[0][Message.author]?.name == "user 7" && next[0].relatedFailure(Message.author) == nil)
        pump.cancel()
    }

    @Test("lose one record that cannot be decoded, not the others")
    func undecodable() async throws {
        let app = app { request in
            guard request.path == "users" else {
                return [["id": 1, "text": "a", "authorID": 7], ["id": 2, "text": "b", "authorID": 8]]
            }
            return [["id": 7, "name": ["no": "text"]], ["id": 8, "name": "Bob"]]
        }
        let messages = app.service("messages", of: Message.self)
        var live = messages.live(.sorted(by: "id")).including(Message.author).snapshots.makeAsyncIterator()
        let snapshot = try #require(try await live.next())
        #expect(snapshot.map { $0[Message.author]?.name } == [nil, "Bob"])
        #expect(snapshot.map { $0.hasLoaded(Message.author) } == [false, true])
        #expect(warnings.withLock { $0.contains { $0.contains("skipped") } })
    }

    @Test("are read with the route of the list")
    func route() async throws {
        let app = app { request in
            request.path == "teams/:team/users"
                ? .array(Self.ids(request).map { ["id": $0, "name": .string(request.params.route["team"] ?? "none")] })
                : [["id": 1, "text": "a", "authorID": 7]]
        }
        let author = Message.relation(to: User.self, at: "teams/:team/users", by: .authorID)
        let messages = app.service("teams/:team/:kind", of: Message.self)
        let params = Params(route: ["team": "red", "kind": "messages"])
        var live = messages.live(params: params).including(author).snapshots.makeAsyncIterator()
        #expect(try await live.next()?.first?[author]?.name == "red")
        #expect(requests(of: "teams/:team/users").map(\.params.route) == [["team": "red"]])
    }

    @Test("are none if the query does not include the relation, and a warning names it", arguments: [false, true])
    func unknown(includesOther: Bool) async throws {
        let app = app { request in
            request.path == "users" ? Self.users(request) : [["id": 1, "text": "a", "authorID": 7]]
        }
        let query = app.service("messages", of: Message.self).live()
        var live = (includesOther ? query.including(Message.author) : query).snapshots.makeAsyncIterator()
        let row = try #require(try await live.next()?.first)
        #expect(row[Message.reactions].isEmpty && row[Message.readers].isEmpty && row[Message.reactions].isEmpty)
        #expect(!row.hasLoaded(Message.reactions) && row.relatedFailure(Message.reactions) == nil)
        let texts = warnings.withLock { $0.filter { $0.contains("does not include the relation") } }
        #expect(texts.count == 2 && texts[0].contains("'messageID' from 'reactions'"))
    }
}
