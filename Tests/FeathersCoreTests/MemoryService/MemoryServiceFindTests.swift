import FeathersCore
import Testing

@Suite("Memory service: lists and pages")
struct MemoryServiceFindTests {
    static let numbers: [JSONObject] = (1...6).map { ["id": .integer($0)] }

    private func ids(_ list: JSONValue) -> [JSONValue] {
        (list["data"] ?? list).array?.compactMap { $0["id"] } ?? []
    }

    @Test("Records come as JavaScript lists an object's keys")
    func order() async throws {
        let service = MemoryService()
        let given: [JSONValue] = ["b", 10, "2", -1, "a", 1, 4_294_967_294, 4_294_967_295, 1.5]
        for id in given { _ = try await service.create(["id": id], Params()) }
        let expected: [JSONValue] = [1, "2", 10, 4_294_967_294, "b", -1, "a", 4_294_967_295]
        #expect(Array(ids(try await service.find(Params())).prefix(8)) == expected)
    }

    @Test("A call may have page sizes of its own, or none")
    func pagesOfCalls() async throws {
        let service = MemoryService(pagination: Pagination(default: 2), records: Self.numbers)
        var params = Params()
        params.pagination = Pagination(default: 3, max: 4)
        #expect(try await service.find(params)["limit"] == 3)
        params.pagination = .off
        #expect(try await service.find(params).array?.count == 6)
        #expect(try await service.find(Params())["limit"] == 2)

        let list = MemoryService(records: Self.numbers)
        params.pagination = Pagination(default: 1)
        #expect(ids(try await list.find(params)) == [1])
    }

    @Test("The order survives removing and adding")
    func orderAfterChanges() async throws {
        let service = MemoryService(multi: .all, records: (0..<100).map { ["id": .integer($0)] })
        for id in stride(from: Int64(0), to: 100, by: 3) { _ = try await service.remove(.integer(id), Params()) }
        _ = try await service.create(["id": 33], Params())
        _ = try await service.create(["id": "x"], Params())
        _ = try await service.create(["id": "y"], Params())
        _ = try await service.remove("x", Params())
        _ = try await service.create(["id": "x"], Params())
        _ = try await service.remove(nil, Params(query: .where("id", .greaterThan(40))))
        let numbers = (0...40 as ClosedRange<Int64>).filter { $0 % 3 != 0 || $0 == 33 }
        let expected = numbers.map { JSONValue.integer($0) } + ["y", "x"]
        #expect(ids(try await service.find(Params())) == expected)
        #expect(await service.count == expected.count)
    }

    struct PageExample: Sendable {
        let query: Query<JSONValue>
        let limit: JSONValue
        var skip: JSONValue = 0
        let ids: [JSONValue]
    }

    static let pages: [PageExample] = [
        PageExample(query: [:], limit: 2, ids: [1, 2]),
        PageExample(query: .limit(3), limit: 3, ids: [1, 2, 3]),
        PageExample(query: .limit(1000), limit: 4, ids: [1, 2, 3, 4]),
        PageExample(query: .limit(-1), limit: 2, ids: [1, 2]),
        PageExample(query: .limit(0), limit: 0, ids: []),
        PageExample(query: ["$limit": "0"], limit: 0, ids: []),
        PageExample(query: ["$limit": "3", "$skip": "2"], limit: 3, skip: 2, ids: [3, 4, 5]),
        PageExample(query: ["$limit": " 3px"], limit: 3, ids: [1, 2, 3]),
        PageExample(query: ["$limit": "many"], limit: 2, ids: [1, 2]),
        PageExample(query: ["$limit": nil], limit: 2, ids: [1, 2]),
        PageExample(query: ["$limit": 3.9], limit: 3, ids: [1, 2, 3]),
        PageExample(query: .skip(5), limit: 2, skip: 5, ids: [6]),
        PageExample(query: .skip(9), limit: 2, skip: 9, ids: []),
        PageExample(query: .skip(-1), limit: 2, ids: [1, 2]),
        PageExample(query: .sorted(by: "id", .descending).skip(1), limit: 2, skip: 1, ids: [5, 4]),
    ]

    @Test("Pages obey the default and the maximum", arguments: pages)
    func page(_ example: PageExample) async throws {
        let service = MemoryService(pagination: Pagination(default: 2, max: 4), records: Self.numbers)
        let page = try await service.find(Params(query: example.query))
        #expect(page["total"] == 6)
        #expect(page["limit"] == example.limit)
        #expect(page["skip"] == example.skip)
        #expect(ids(page) == example.ids)
        #expect(page.object?.map(\.key) == ["total", "limit", "skip", "data"])
    }

    @Test("The total counts what matches")
    func total() async throws {
        let service = MemoryService(pagination: Pagination(default: 2), records: Self.numbers)
        let page = try await service.find(Params(query: .where("id", .greaterThan(2)).limit(100)))
        #expect(page["total"] == 4)
        #expect(page["limit"] == 100)
        #expect(ids(page) == [3, 4, 5, 6])
    }

    static let lists: [(Query<JSONValue>, [JSONValue])] = [
        ([:], [1, 2, 3, 4, 5, 6]),
        (.limit(0), []),
        (.limit(2).skip(1), [2, 3]),
        (.limit(-1), [1, 2, 3, 4, 5, 6]),
        (["$limit": "x"], [1, 2, 3, 4, 5, 6]),
        (.sorted(by: "id", .descending).limit(2), [6, 5]),
        (.where("id", .isIn([5, 1])).sorted(by: "id", .descending), [5, 1]),
    ]

    @Test("Without pages a list is an array", arguments: lists)
    func list(query: Query<JSONValue>, expected: [JSONValue]) async throws {
        let list = try await MemoryService(records: Self.numbers).find(Params(query: query))
        #expect(list.array != nil)
        #expect(ids(list) == expected)
    }
}
