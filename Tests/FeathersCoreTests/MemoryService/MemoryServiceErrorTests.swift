import FeathersCore
import Testing

@Suite("Memory service: errors in FeathersJS' words")
struct MemoryServiceErrorTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        let call: @Sendable (MemoryService) async throws -> JSONValue
        let code: FeathersError.Code
        let message: String
        var data: JSONValue?

        var testDescription: String { name }
    }

    static let examples: [Example] = [
        Example(
            name: "get", call: { try await $0.get(9999, Params()) }, code: .notFound,
            message: "No record found for id '9999'"),
        Example(
            name: "get by text", call: { try await $0.get("x y", Params()) }, code: .notFound,
            message: "No record found for id 'x y'"),
        Example(
            name: "update", call: { try await $0.update(9999, with: [:], Params()) }, code: .notFound,
            message: "No record found for id '9999'"),
        Example(
            name: "patch", call: { try await $0.patch(9999, with: [:], Params()) }, code: .notFound,
            message: "No record found for id '9999'"),
        Example(
            name: "remove", call: { try await $0.remove(9999, Params()) }, code: .notFound,
            message: "No record found for id '9999'"),
        Example(
            name: "update of the null id", call: { try await $0.update(nil, with: [:], Params()) }, code: .badRequest,
            message: "You can not replace multiple instances. Did you mean 'patch'?"),
        Example(
            name: "update with an array", call: { try await $0.update(1, with: [[:]], Params()) }, code: .badRequest,
            message: "You can not replace multiple instances. Did you mean 'patch'?"),
        Example(
            name: "patch of the null id", call: { try await $0.patch(nil, with: [:], Params()) },
            code: .methodNotAllowed,
            message: "Can not patch multiple entries"),
        Example(
            name: "remove of the null id", call: { try await $0.remove(nil, Params()) }, code: .methodNotAllowed,
            message: "Can not remove multiple entries"),
        Example(
            name: "create with an array", call: { try await $0.create([[:]], Params()) }, code: .methodNotAllowed,
            message: "Can not create multiple entries"),
        Example(
            name: "unknown operator", call: { try await $0.find(Params(query: ["n": ["$regex": "x"]])) },
            code: .badRequest,
            message: "Invalid query parameter $regex", data: ["$regex": "x"]),
        Example(
            name: "unknown filter", call: { try await $0.get(1, Params(query: ["$populate": "x"])) }, code: .badRequest,
            message: "Invalid filter value $populate"),
        Example(
            name: "bad query before the null id",
            call: { try await $0.patch(nil, with: [:], Params(query: ["$no": 1])) },
            code: .badRequest, message: "Invalid filter value $no"),
        Example(
            name: "create without an object", call: { try await $0.create("x", Params()) }, code: .badRequest,
            message: "A record must be an object"),
        Example(
            name: "create with an object as id", call: { try await $0.create(["id": [:]], Params()) },
            code: .badRequest,
            message: "An id must be a string or a number"),
        Example(
            name: "custom methods", call: { try await $0.call("archive", with: [:], Params()) },
            code: .methodNotAllowed,
            message: "Method `archive` is not supported by this endpoint."),
    ]

    @Test("Says what went wrong and leaves the records alone", arguments: examples)
    func error(_ example: Example) async throws {
        let service = MemoryService(records: [["id": 1]])
        let error = try await #require(throws: FeathersError.self) { try await example.call(service) }
        #expect(error.code == example.code)
        #expect(error.message == example.message)
        #expect(error.data == example.data)
        #expect(try await service.find(Params()) == [["id": 1]])
    }
}
