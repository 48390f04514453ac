import FeathersCore
import Testing

@Suite("Memory service: several records at once")
struct MemoryServiceMultiTests {
    private func service(_ multi: MemoryService.MultipleRecords = .all) -> MemoryService {
        let records: [JSONObject] = (1...5).map { ["id": .integer($0), "open": true, "n": .integer($0)] }
        return MemoryService(startID: 1, multi: multi, pagination: Pagination(default: 2, max: 2), records: records)
    }

    @Test("create answers with all records, in order")
    func create() async throws {
        let created = try await service().create([["n": 8], ["n": 9, "id": "x"]], Params(query: .selecting("n")))
        #expect(created == [["n": 8, "id": 6], ["n": 9, "id": "x"]])
        #expect(try await service().create([], Params()) == [])
    }

    @Test("create creates all records or none")
    func createFails() async throws {
        let service = service()
        #expect(await failureCode { try await service.create([["n": 8], "no"], Params()) } == .badRequest)
        #expect(await service.count == 5)
        #expect(try await service.create(["n": 8], Params()) == ["n": 8, "id": 6])
    }

    @Test("patch ignores pages and answers records that no longer match")
    func patch() async throws {
        let service = service()
        let query = Query.where("open", true).where("n", .greaterThan(1)).limit(1).skip(1).selecting("open")
        let patched = try await service.patch(nil, with: ["open": false, "id": 77], Params(query: query))
        #expect(patched == .array((2...5).map { ["open": false, "id": .integer($0)] }))
        #expect(try await service.find(Params(query: .where("open", true)))["total"] == 1)
    }

    @Test("remove ignores pages and answers with what it removed")
    func remove() async throws {
        let service = service()
        let query = Query.where("n", .lessThanOrEqual(3)).limit(1).selecting("id")
        #expect(try await service.remove(nil, Params(query: query)) == [["id": 1], ["id": 2], ["id": 3]])
        #expect(await service.count == 2)
        #expect(try await service.remove(nil, Params()).array?.count == 2)
        #expect(try await service.remove(nil, Params()) == [])
    }

    @Test("Each method is allowed on its own")
    func perMethod() async throws {
        let patching = service(.only([.patch]))
        #expect(try await patching.patch(nil, with: [:], Params(query: ["n": 99])) == [])
        #expect(await failureCode { try await patching.remove(nil, Params()) } == .methodNotAllowed)
        #expect(await failureCode { try await patching.create([], Params()) } == .methodNotAllowed)
    }

    @Test("A call may be allowed what the service is not, and the reverse")
    func perCall() async throws {
        var params = Params()
        params.multi = .only([.patch])
        let service = service(.only([.remove]))
        #expect(try await service.patch(nil, with: ["open": false], params).array?.count == 5)
        #expect(await failureCode { try await service.remove(nil, params) } == .methodNotAllowed)
        #expect(try await service.remove(nil, Params()).array?.count == 5)
    }

    @Test("An answer does not change with the record")
    func answersAreCopies() async throws {
        let service = service()
        let before = try await service.get(1, Params())
        _ = try await service.patch(1, with: ["n": 100], Params())
        #expect(before["n"] == 1)
    }

    @Test("Calls from many tasks leave a store that is whole")
    func concurrency() async throws {
        let service = MemoryService()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for n in 0..<200 {
                group.addTask {
                    let id = try #require(
                        try await service.create(["n": .integer(Int64(n))], Params())["id"].flatMap { ServiceID($0) })
                    if n % 2 == 0 { _ = try await service.remove(id, Params()) }
                }
            }
            try await group.waitForAll()
        }
        #expect(await service.count == 100)
        let ids = try await service.find(Params()).array?.compactMap { $0["id"]?.integer } ?? []
        #expect(ids == ids.sorted() && Set(ids).count == 100)
    }
}
