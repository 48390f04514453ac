import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@Suite("The pages of a service", .timeLimit(.minutes(10)))
struct ServicePagesTests {
    struct Way: Sendable, CustomTestStringConvertible {
        var size: Int
        var key: String?
        var prefetch = 0
        var pagination: Pagination?
        var testDescription: String {
            "\(size) by \(key ?? "count"), \(prefetch) ahead, \(pagination.map { "\($0)" } ?? "no pagination")"
        }
    }

    static let ways: [Way] = [1, 3, 5, 7, 100].flatMap { size in
        [nil, Pagination(default: 4), Pagination(default: 2, max: 3)].flatMap { pagination in
            [
                Way(size: size, pagination: pagination), Way(size: size, prefetch: 2, pagination: pagination),
                Way(size: size, key: "id", pagination: pagination),
            ]
        }
    }

    /// A service with ten records of ranks 0, 0, 1, 1, …
    private func service(_ pagination: Pagination?) async throws -> (app: FeathersApp, stub: StubTransport) {
        let records = (1...10).map { ["id": .integer($0), "rank": .integer(($0 - 1) / 2), "text": "x"] as JSONObject }
        let stub = StubTransport(services: [
            "messages": MemoryService(startID: 1, multi: .all, pagination: pagination, records: records)
        ])
        return (FeathersApp(transport: stub), stub)
    }

    private func ids(_ pages: Pages<JSONValue>) async throws -> [Int64] {
        var ids: [Int64] = []
        for try await record in pages.records { ids.append(record["id"]?.integer ?? 0) }
        return ids
    }

    @Test("hold every record once, in order", arguments: ways)
    func everyRecord(way: Way) async throws {
        let messages = try await service(way.pagination).app.service("messages")
        func pages(_ query: Query<JSONValue>) -> Pages<JSONValue> {
            messages.pages(query, of: way.size, keyedBy: way.key, prefetching: way.prefetch)
        }
        #expect(try await ids(pages(Query())) == Array(1...10))
        #expect(try await ids(pages(.sorted(by: "rank", .descending))) == [9, 10, 7, 8, 5, 6, 3, 4, 1, 2])
        #expect(try await ids(pages(.where("rank", .greaterThan(1)))) == Array(5...10))
        #expect(try await ids(pages(.any(of: [.where("rank", 0), .where("id", 9)]))) == [1, 2, 9])
        #expect(try await ids(pages(.limit(5))) == Array(1...5))
        #expect(try await ids(pages(.limit(0))) == [])
        #expect(try await ids(pages(.where("rank", 77))) == [])
        if way.key == nil { #expect(try await ids(pages(.limit(5).skip(4))) == Array(5...9)) }
    }

    @Test(
        "end with the reason if a record has no value to continue after, and never send its structure",
        arguments: [["$gt": ""], ["$ne": "x"], [:], [["$gt": ""]], [], nil] as [JSONValue])
    func structure(value: JSONValue) async throws {
        let records = [["id": 1, "name": "Ada"], ["id": 2, "name": value], ["id": 3, "name": "Cy"]] as [JSONValue]
        let stub = StubTransport { request in
            .object(["total": 3, "limit": 2, "skip": 0, "data": .array(Array(records.prefix(2)))])
        }
        let messages = FeathersApp(transport: stub).service("messages")
        for (query, key) in [(Query.sorted(by: "name"), "id"), (Query(), "name")] {
            var pages = messages.pages(query, of: 2, keyedBy: key).makeAsyncIterator()
            #expect(try await pages.next()?.count == 2)
            let error = await #expect(throws: FeathersError.self) { try await pages.next() }
            #expect(error?.message.contains("no string, number or Boolean in 'name'") == true)
        }
        #expect(stub.requests.count == 2)
    }

    @Test("continue after every kind of value", arguments: ["x", "$gt", 1.5, 7, true] as [JSONValue])
    func values(value: JSONValue) async throws {
        let stub = StubTransport { _ in
            .object(["total": 3, "limit": 1, "skip": 0, "data": [["id": 1, "name": value]]])
        }
        var pages = FeathersApp(transport: stub).service("messages").pages(.sorted(by: "name"), of: 1, keyedBy: "id")
            .makeAsyncIterator()
        _ = try await pages.next()
        _ = try? await pages.next()
        #expect(
            stub.requests.last?.params.query.json["$or"]
                == [["name": ["$gt": value]], ["name": value, "id": ["$gt": 1]]])
    }

    @Test("tell how far they lead")
    func progress() async throws {
        let messages = try await service(Pagination(default: 10)).app.service("messages")
        var seen: [[Int?]] = []
        var fractions: [Double?] = []
        for try await page in messages.pages(of: 4) {
            seen.append([page.count, page.skip, page.total])
            fractions.append(page.fraction)
        }
        #expect(seen == [[4, 0, 10], [4, 4, 10], [2, 8, 10]])
        #expect(fractions == [0.4, 0.8, 1])
        var limited = messages.pages(.limit(3), of: 2).makeAsyncIterator()
        #expect(try await limited.next()?.total == 10)
        var unpaged = try await service(nil).app.service("messages").pages(of: 4).makeAsyncIterator()
        #expect(try await unpaged.next()?.fraction == nil)
        var empty = messages.pages(.where("rank", 77)).makeAsyncIterator()
        #expect(try await empty.next()?.fraction == 1)
        #expect(try await empty.next() == nil)
    }

    @Test("are asked for as they are read, and so many ahead as allowed", arguments: [0, 1, 2])
    func prefetching(ahead: Int) async throws {
        let (app, stub) = try await service(Pagination(default: 2))
        var pages = app.service("messages").pages(of: 2, prefetching: ahead).makeAsyncIterator()
        #expect(stub.requests.isEmpty)
        _ = try await pages.next()
        #expect(stub.requests.count == 1)
        _ = try await pages.next()
        #expect(stub.requests.count == 2 + ahead)
        while try await pages.next() != nil {}
        #expect(stub.requests.count == 5)
    }

    @Test("kept apart by a key neither repeat nor leave out what others move")
    func stability() async throws {
        let messages = try await service(Pagination(default: 3)).app.service("messages")
        var keyed: [Int64] = []
        var counted: [Int64] = []
        var keyedPages = messages.pages(.sorted(by: "rank"), of: 3, keyedBy: "id").makeAsyncIterator()
        var countedPages = messages.pages(.sorted(by: "rank"), of: 3).makeAsyncIterator()
        while let page = try await keyedPages.next() {
            keyed += page.data.compactMap { $0["id"]?.integer }
            counted += try await countedPages.next()?.data.compactMap { $0["id"]?.integer } ?? []
            try await messages.create(["rank": -1])
        }
        #expect(keyed == Array(1...10))
        #expect(counted != Array(1...10))
    }

    @Test("kept apart by a key fail if the service compares the key as text, and end if the rest was removed")
    func keyAsText() async throws {
        for isRemoved in [false, true] {
            let app = FeathersApp(
                transport: StubTransport { request in
                    let query = request.params.query.json
                    if query["id"] != nil || query["$or"] != nil {
                        return ["total": 0, "limit": 2, "skip": 0, "data": []]
                    }
                    let ids: [JSONValue] = query["$skip"] == nil ? [1, 2] : isRemoved ? [] : [3]
                    return [
                        "total": 3, "limit": 2, "skip": query["$skip"] ?? 0, "data": .array(ids.map { ["id": $0] }),
                    ]
                })
            let pages = app.service("messages").pages(of: 2, keyedBy: "id")
            if isRemoved {
                #expect(try await ids(pages) == [1, 2])
            } else {
                await #expect { for try await _ in pages {} } throws: { "\($0)".contains("as text") }
            }
        }
    }

    /// Ten records with times that have more digits on the server than in JSON. Some are of the same second.
    private static func precise() async throws -> (Service<JSONValue>, MemoryService) {
        let server = MemoryService(
            pagination: Pagination(default: 3, max: 3),
            records: (1...10).map { ["id": .integer($0), "at": .number(Double($0 / 4) + Double($0 * 7 % 10) / 64)] })
        let app = FeathersApp(
            transport: StubTransport { request in
                let result = try await server.respond(to: request).result
                guard var object = result.object, let data = result["data"]?.array else { return result }
                object["data"] = .array(
                    data.map { record in
                        var record = record.object ?? [:]
                        record["at"] = .number((record["at"]?.number ?? 0).rounded(.down) + 1 / 128)
                        return .object(record)
                    })
                return .object(object)
            })
        return (app.service("messages"), server)
    }

    @Test(
        "kept apart by a key end with the reason if JSON rounds the values, rather than leave out records",
        arguments: [SortDirection.ascending, .descending])
    func rounded(direction: SortDirection) async throws {
        let (messages, _) = try await Self.precise()
        let byTime = messages.pages(.sorted(by: "at", direction), of: 3, keyedBy: "id")
        await #expect { for try await _ in byTime {} } throws: {
            FeathersError.Code.generalError ~= $0 && "\($0)".contains("more precise")
        }
        #expect(try await ids(messages.pages(of: 3, keyedBy: "id")) == Array(1...10))
        #expect(try await ids(messages.pages(.sorted(by: "at", direction), of: 3)).count == 10)
        let onlyTime = messages.pages(of: 3, keyedBy: "at")
        await #expect { for try await _ in onlyTime {} } throws: { "\($0)".contains("more precise") }
    }

    @Test(
        "kept apart by a key hold every record once where times and fractions are exact, whatever is removed meanwhile",
        arguments: [2, 3, 4, 100], [nil, Pagination(default: 3, max: 3)])
    func exact(size: Int, pagination: Pagination?) async throws {
        let app = FeathersApp()
        try await app.use(
            MemoryService(
                multi: .all, pagination: pagination,
                records: (1...10).map { ["id": .integer($0), "at": .number(Double($0 / 2) + 0.5)] }), at: "messages")
        let messages = app.service("messages")
        #expect(try await ids(messages.pages(.sorted(by: "at"), of: size, keyedBy: "id")) == Array(1...10))
        #expect(try await ids(messages.pages(.sorted(by: "at").limit(7), of: size, keyedBy: "id")) == Array(1...7))
        var pages = messages.pages(.sorted(by: "at"), of: size, keyedBy: "id").makeAsyncIterator()
        var seen: [Int64] = []
        while let page = try await pages.next() {
            seen += page.data.compactMap { $0["id"]?.integer }
            // The next page cannot begin with it.
            if let last = seen.last { try await messages.remove(last) }
        }
        #expect(seen == Array(1...10))
    }

    @Test("show the properties that are selected, sorted by others")
    func selection() async throws {
        let messages = try await service(nil).app.service("messages")
        var pages = messages.pages(.sorted(by: "rank").selecting("text"), of: 3, keyedBy: "id").makeAsyncIterator()
        _ = try await pages.next()
        #expect(try await pages.next()?.first == ["text": "x", "id": 4])
    }

    @Test("are models of a service with a model")
    func typed() async throws {
        struct Message: Codable, Sendable { var id: Int }
        let messages = try await service(nil).app.service("messages", of: Message.self)
        var ids: [Int] = []
        for try await message in messages.pages(of: 4).records { ids.append(message.id) }
        #expect(ids == Array(1...10))
    }

    @Test("fail where they would never end, and for what cannot be paged")
    func failures() async throws {
        let stuck = FeathersApp(transport: StubTransport { _ in [["id": 1], ["id": 2]] }).service("messages")
        await #expect { for try await _ in stuck.pages(of: 2) {} } throws: { FeathersError.Code.generalError ~= $0 }
        for length: Int64 in [2, 3, 7] {
            let number = Locked<Int64>(0)
            let transport = StubTransport { _ in
                let first = number.withLock { number in
                    defer { number += 1 }
                    return number % length * 2
                }
                return [["id": .integer(first)], ["id": .integer(first + 1)]]
            }
            let cycle = FeathersApp(transport: transport).service("messages").pages(of: 2, keyedBy: "id")
            await #expect { for try await _ in cycle {} } throws: { FeathersError.Code.generalError ~= $0 }
        }
        let whole = FeathersApp(transport: StubTransport { _ in [["id": 1], ["id": 2], ["id": 3]] }).service("messages")
        #expect(try await ids(whole.pages(of: 2)) == [1, 2, 3])
        let messages = try await service(nil).app.service("messages")
        for pages in [
            messages.pages(of: 0), messages.pages(.skip(2), keyedBy: "id"), messages.pages(["$limit": "many"]),
        ] {
            await #expect { for try await _ in pages {} } throws: { FeathersError.Code.badRequest ~= $0 }
        }
        try await messages.create(["text": "no rank"])
        let incomplete = messages.pages(.sorted(by: "rank"), of: 1, keyedBy: "id")
        await #expect { for try await _ in incomplete {} } throws: {
            FeathersError.Code.generalError ~= $0 && "\($0)".contains("'rank'")
        }
    }

    @Test("end with their reader's cancellation")
    func cancellation() async throws {
        let messages = try await service(Pagination(default: 2)).app.service("messages")
        let reader = Task {
            for try await _ in messages.pages(of: 2, prefetching: 2) {
                withUnsafeCurrentTask { $0?.cancel() }
                try Task.checkCancellation()
            }
        }
        await #expect(throws: CancellationError.self) { try await reader.value }
    }
}
