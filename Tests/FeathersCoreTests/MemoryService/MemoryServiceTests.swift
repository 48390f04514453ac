import FeathersCore
import Testing

@Suite("Memory service: single records")
struct MemoryServiceTests {
    private let none = Params()

    @Test("Ids count up from the first, and given ids are kept")
    func ids() async throws {
        let service = MemoryService(startID: 1)
        #expect(try await service.create(["text": "a"], none) == ["text": "a", "id": 1])
        #expect(try await service.create(["id": "own", "text": "b"], none) == ["id": "own", "text": "b"])
        #expect(try await service.create(["id": 2, "text": "c"], none) == ["id": 2, "text": "c"])
        // FeathersJS would replace the record that was given id 2.
        #expect(try await service.create(["text": "d"], none) == ["text": "d", "id": 3])
        #expect(await service.count == 4)
    }

    @Test("Without a first id counting begins at 0")
    func defaultStart() async throws {
        #expect(try await MemoryService().create([:], none) == ["id": 0])
    }

    @Test("What JavaScript takes for false is no id", arguments: [nil, 0, false, "", 0.0] as [JSONValue])
    func falsyIDs(_ id: JSONValue) async throws {
        #expect(try await MemoryService(startID: 5).create(["id": id], none) == ["id": 5])
    }

    @Test("A given id replaces the record that had it")
    func replacingCreate() async throws {
        let service = MemoryService()
        _ = try await service.create(["id": 7, "a": 1], none)
        _ = try await service.create(["id": "7", "b": 2], none)
        #expect(try await service.find(none) == [["id": "7", "b": 2]])
    }

    @Test("The id may have another name and another source")
    func idOptions() async throws {
        let service = MemoryService(id: "_id") { record in .string("n-\(record["text"]?.string ?? "")") }
        #expect(try await service.create(["text": "a"], none) == ["text": "a", "_id": "n-a"])
        #expect(try await service.get("n-a", none)["text"] == "a")
        #expect(await failureCode { try await service.create(["text": "a"], none) } == .conflict)
    }

    @Test("An id finds its record as a number and as a string alike", arguments: [1, "1", .number(1)] as [ServiceID])
    func coercion(_ id: ServiceID) async throws {
        let service = MemoryService(records: [["id": 1, "n": 5]])
        #expect(try await service.get(id, none) == ["id": 1, "n": 5])
        #expect(try await service.update(id, with: ["n": 6], none) == ["n": 6, "id": 1])
        #expect(try await service.patch(id, with: ["m": 7], none) == ["n": 6, "id": 1, "m": 7])
        #expect(try await service.remove(id, none) == ["n": 6, "id": 1, "m": 7])
        #expect(await service.count == 0)
    }

    @Test(
        "Texts that only look like a number's are other ids", arguments: ["01", "1.0", "+1", " 1", "é"] as [ServiceID])
    func otherIDs(_ id: ServiceID) async {
        let service = MemoryService(records: [["id": 1], ["id": "e\u{301}"]])
        #expect(await failureCode { try await service.get(id, none) } == .notFound)
    }

    @Test("update replaces, patch merges, neither changes the id")
    func changes() async throws {
        let service = MemoryService(records: [["id": 1, "a": 1, "b": 2]])
        #expect(try await service.patch(1, with: ["id": 9, "a": nil], none) == ["id": 1, "a": nil, "b": 2])
        #expect(try await service.update(1, with: ["id": 9, "c": 3], none) == ["id": 1, "c": 3])
        #expect(try await service.find(none) == [["id": 1, "c": 3]])
    }

    @Test("$select keeps the id, in every method")
    func selection() async throws {
        let service = MemoryService(startID: 1)
        let params = Params(query: .selecting("a"))
        #expect(try await service.create(["a": 1, "b": 2], params) == ["a": 1, "id": 1])
        #expect(try await service.get(1, params) == ["a": 1, "id": 1])
        #expect(try await service.patch(1, with: ["b": 3], params) == ["a": 1, "id": 1])
        #expect(try await service.find(params) == [["a": 1, "id": 1]])
        #expect(try await service.update(1, with: ["a": 4, "b": 5], params) == ["a": 4, "id": 1])
        #expect(try await service.remove(1, params) == ["a": 4, "id": 1])
    }

    @Test("A record that does not match the query is not found, and nothing changes")
    func queryOnSingleRecords() async throws {
        let service = MemoryService(records: [["id": 1, "owner": "a"]])
        let other = Params(query: .where("owner", "b"))
        #expect(await failureCode { try await service.get(1, other) } == .notFound)
        #expect(await failureCode { try await service.update(1, with: ["owner": "b"], other) } == .notFound)
        #expect(await failureCode { try await service.patch(1, with: ["owner": "b"], other) } == .notFound)
        #expect(await failureCode { try await service.remove(1, other) } == .notFound)
        #expect(try await service.get(1, Params(query: .where("owner", "a"))) == ["id": 1, "owner": "a"])
    }

    @Test("A patched record is answered although it no longer matches")
    func patchOutOfQuery() async throws {
        let service = MemoryService(records: [["id": 1, "owner": "a"]])
        let params = Params(query: .where("owner", "a"))
        #expect(try await service.patch(1, with: ["owner": "b"], params) == ["id": 1, "owner": "b"])
    }

    @Test("Requests reach the methods they name")
    func requests() async throws {
        let service: any ServiceProtocol = MemoryService(records: [["id": 1, "a": 1]])
        let get = ServiceRequest(path: "records", method: .get, id: "1")
        #expect(try await service.respond(to: get).result == ["id": 1, "a": 1])
        let patch = ServiceRequest(path: "records", method: .patch, id: 1, data: ["b": 2])
        #expect(try await service.respond(to: patch).result == ["id": 1, "a": 1, "b": 2])
        let update = ServiceRequest(path: "records", method: .update, data: ["b": 2])
        #expect(await failureCode { try await service.respond(to: update).result } == .badRequest)
    }
}
