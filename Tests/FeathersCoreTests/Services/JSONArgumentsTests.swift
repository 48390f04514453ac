import FeathersCore
import FeathersTesting
import Foundation
import Testing

@Suite("JSON from variables")
struct JSONArgumentsTests {
    struct Person: Codable, Sendable, Equatable {
        var id: Int?
        var name: String
        var age: Int?
    }

    static func people() async throws -> Service<Person> {
        let app = FeathersApp()
        try await app.use(MemoryService(multi: .all), at: "people")
        return app.service("people", of: Person.self)
    }

    @Test("A variable of a basic type, or an optional one, becomes JSON")
    func variables() throws {
        let (name, age, height, isAdmin) = ("Ada", 36, 1.65, true)
        let (nickname, missing): (String?, Int?) = ("Countess", nil)
        let object: JSONValue = [
            "name": JSONValue(name), "age": JSONValue(age), "height": JSONValue(height), "isAdmin": JSONValue(isAdmin),
            "nickname": JSONValue(nickname), "missing": JSONValue(missing), "tags": JSONValue([name]),
            "nested": ["small": JSONValue(UInt8(7))],
        ]
        let text =
            #"{"name":"Ada","age":36,"height":1.65,"isAdmin":true,"nickname":"Countess","missing":null,"tags":["Ada"],"#
        #expect("\(object)" == text + #""nested":{"small":7}}"#)
        let id = UUID()
        #expect(JSONValue(id) == .string(id.uuidString.lowercased()))
        #expect(JSONValue(Date(timeIntervalSince1970: 0)) == "1970-01-01T00:00:00.000Z")
        let url = try #require(URL(string: "https://example.com/a"))
        #expect(JSONValue(url) == "https://example.com/a")
        #expect(JSONValue(ServiceID(7)) == 7)
        #expect(JSONValue(object) == object)
    }

    @Test("Literals with variables are data, in their order, on untyped and typed services")
    func literals() async throws {
        let people = try await Self.people()
        let (name, age, nickname, tags): (String, Int, String?, [String]) = ("Ada", 36, nil, ["math"])
        let created = try await people.json.create([
            "name": name, "age": age, "nickname": nickname, "address": ["city": name], "tags": tags,
        ])
        #expect(
            "\(created)".hasPrefix(#"{"name":"Ada","age":36,"nickname":null,"address":{"city":"Ada"},"tags":["math"]"#))
        let ada = try await people.patch(created.id, with: ["age": age + 1])
        #expect(ada.age == 37)
        #expect(try await people.json.update(created.id, with: ["name": name, "age": age])["nickname"] == nil)
        #expect(try await people.update(created.id, with: ["name": name, "age": age]).name == "Ada")
        #expect(try await people.create(["name": name, "age": age]).age == 36)
        #expect(try await people.patchAll(query: .where("age", 36), with: ["age": age - 1, "name": name]).count == 2)
        #expect(try await people.json.patchAll(query: .where("age", 35), with: ["age": age, "name": name]).count == 2)
    }

    @Test("A variable that JSON cannot express is named, and dates have the format of the service")
    func literalFormats() async throws {
        let stub = StubTransport { request in request.data ?? .null }
        let app = FeathersApp(transport: stub)
        let (height, born) = (Double.nan, Date(timeIntervalSince1970: 5))
        await #expect { try await app.service("people").create(["name": "Ada", "height": height]) } throws: {
            FeathersError.Code.badRequest ~= $0 && "\($0)".contains("'height'")
        }
        app.coding = CodingOptions(dates: .secondsSince1970)
        #expect(try await app.service("people").call("invite", with: ["born": born]) == ["born": 5])
    }

    @Test("A model becomes JSON and back")
    func models() throws {
        let ada = Person(name: "Ada", age: 36)
        let json = try JSONValue(encoding: ada)
        #expect(json == ["name": "Ada", "age": 36])
        #expect(try json.decode(Person.self) == ada)
        let inferred: Person = try json.decode()
        #expect(inferred == ada)
    }

    @Test("An object prints as JSON, with its keys in their order")
    func printing() {
        let object: JSONObject = ["b": 1, "a": [nil, true]]
        #expect("\(object)" == #"{"b":1,"a":[null,true]}"#)
    }

    @Test("Every typed method that sends data takes a literal with values of several kinds")
    func mixedLiterals() async throws {
        let people = try await Self.people()
        let ada = try await people.create(["name": "Ada", "age": 36])
        #expect(ada == Person(id: 0, name: "Ada", age: 36))
        let others = try await people.create(contentsOf: [["name": "Grace", "age": 85], ["name": "Mary", "age": nil]])
        #expect(others.map(\.id) == [1, 2])
        let updated = try await people.update(0, with: ["name": "Ada", "age": 37])
        #expect(updated.age == 37)
        let patched = try await people.patchAll(query: .where("name", "Ada"), with: ["name": "Ada L.", "age": 38])
        #expect(patched.map(\.age) == [38])
        #expect(try await people.patch(0, with: ["name": "Ada", "age": nil]) == Person(id: 0, name: "Ada"))
    }

    @Test("A custom method needs no data, and its result may be ignored")
    func calls() async throws {
        let transport = StubTransport { request in request.data ?? .null }
        let people = FeathersApp(transport: transport).service("people", of: Person.self)
        try await people.call("ping")
        try await people.call("typing", with: ["user": "ada"])
        try await people.call("typing", with: ["user": "ada", "count": 2])
        try await people.call("greet", with: Person(name: "Ada"))
        let echoed = try await people.call("echo", with: ["name": "Ada", "age": 36], returning: Person.self)
        #expect(echoed == Person(name: "Ada", age: 36))
        #expect(try await people.call("echo", with: Person(name: "Ada"), returning: Person.self) == Person(name: "Ada"))
        let nothing = try await people.call("ping")
        #expect(nothing == .null)
    }
}
