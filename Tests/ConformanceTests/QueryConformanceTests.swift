import Feathers
import Foundation
import TestBackend
import Testing

/// What every transport must do alike: queries. Over REST all values arrive as strings, so those compared here are
/// strings.
@Suite("Conformance: queries", .inTurn)
struct QueryConformanceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let query: Query<JSONValue>
        let names: [String]
        /// What a subject must be able to do for it, besides what all can.
        var needs: Ability?
    }

    static let cases: [Case] = [
        Case(testDescription: "no condition", query: Query(), names: ["ada", "bob", "cy", "dee"]),
        Case(testDescription: "equality", query: .where("name", "bob"), names: ["bob"]),
        Case(testDescription: "not equal", query: .where("name", .notEquals("bob")), names: ["ada", "cy", "dee"]),
        Case(testDescription: "one of", query: .where("name", .isIn(["ada", "cy", "zoe"])), names: ["ada", "cy"]),
        Case(testDescription: "none of", query: .where("name", .isNotIn(["ada", "cy"])), names: ["bob", "dee"]),
        Case(testDescription: "greater than", query: .where("name", .greaterThan("bob")), names: ["cy", "dee"]),
        Case(
            testDescription: "at least",
            query: .where("name", .greaterThanOrEqual("bob")),
            names: ["bob", "cy", "dee"]),
        Case(testDescription: "less than", query: .where("name", .lessThan("bob")), names: ["ada"]),
        Case(testDescription: "at most", query: .where("name", .lessThanOrEqual("bob")), names: ["ada", "bob"]),
        Case(
            testDescription: "two conditions on one property",
            query: .where("name", .greaterThan("ada")).where("name", .lessThan("dee")),
            names: ["bob", "cy"]),
        Case(
            testDescription: "any of",
            query: .any(of: [.where("name", "ada"), .where("team", "blue").where("name", .notEquals("bob"))]),
            names: ["ada", "dee"], needs: .alternatives),
        Case(
            testDescription: "all of", query: .all(of: [.where("team", "blue"), .where("name", .greaterThan("c"))]),
            names: ["dee"]),
        Case(testDescription: "inside an object", query: .where("address.city", "Rome"), names: ["cy"]),
        Case(
            testDescription: "sorted downwards", query: .sorted(by: "name", .descending),
            names: ["dee", "cy", "bob", "ada"]),
        Case(
            testDescription: "sorted by two properties", query: .sorted(by: "team").sorted(by: "name", .descending),
            names: ["dee", "bob", "cy", "ada"]),
        Case(
            testDescription: "limited and skipped", query: .sorted(by: "name").skip(1).limit(2), names: ["bob", "cy"]),
        Case(testDescription: "characters a URL reserves", query: .where("name", "a&b=c?d#e%f+g h/[i]"), names: []),
    ]

    static let records: [JSONValue] = [
        ["name": "ada", "team": "red"], ["name": "bob", "team": "blue"],
        ["name": "cy", "team": "red", "address": ["city": "Rome"]],
        ["name": "dee", "team": "blue", "address": ["city": "Oslo"]],
    ]

    @Test("A query finds the same records everywhere", arguments: Subject.all)
    func queries(_ subject: Subject) async throws {
        let messages = try await subject.app().service("messages")
        let room = JSONValue.string("conformance-\(UUID().uuidString)")
        try await messages.create(
            contentsOf: Self.records.map { record in
                var record = record
                record["room"] = room
                return record
            })
        for testCase in Self.cases {
            let query = testCase.query.where("room", room)
            if let ability = testCase.needs, !subject.can(ability) {
                await subject.expectRefusal(of: ability) { try await messages.find(query) }
                continue
            }
            let page = try await messages.find(query)
            #expect(page.map { $0["name"]?.string } == testCase.names, "\(testCase.testDescription)")
        }
    }

    @Test("A page has totals; its limit is kept between none and the service's most", arguments: Subject.all)
    func pages(_ subject: Subject) async throws {
        let messages = try await subject.app().service("messages")
        let room = JSONValue.string("conformance-\(UUID().uuidString)")
        let ofRoom = Query.where("room", room)
        try await messages.create(contentsOf: (1...12).map { ["n": .integer($0), "room": room] })
        let limits: [(asked: Query<JSONValue>, limit: Int, count: Int)] = [
            (ofRoom, 10, 10), (ofRoom.limit(0), 0, 0), (ofRoom.limit(5), 5, 5), (ofRoom.limit(1000), 50, 12),
            (ofRoom.skip(11), 10, 1),
        ]
        for (asked, limit, count) in limits {
            let page = try await messages.find(asked)
            #expect((page.total, page.count) == (12, count))
            // Who is not told knows what it asked for.
            #expect(page.limit == (subject.can(.pageSizes) ? limit : asked.json["$limit"]?.integer.map(Int.init)))
        }
    }

    @Test("A selection keeps the id", arguments: Subject.all)
    func selection(_ subject: Subject) async throws {
        let messages = try await subject.app().service("messages")
        let created = try await messages.create(["text": "Hi", "secret": 1], query: .selecting("text"))
        let id = try #require(created["id"])
        #expect(created == ["text": "Hi", "id": id])
        #expect(
            try await messages.get(try #require(ServiceID(id)), query: .selecting("secret")) == ["secret": 1, "id": id])
    }

    @Test("A service without pages gives lists", arguments: Subject.all)
    func lists(_ subject: Subject) async throws {
        let todos = try await subject.app().service("todos")
        let room = JSONValue.string("conformance-\(UUID().uuidString)")
        try await todos.create(contentsOf: [["a": 1, "room": room], ["a": 2, "room": room]])
        let list = try await todos.find(.where("room", room).sorted(by: "a", .descending))
        #expect(list.map { $0["a"] } == [2, 1])
        if subject.can(.bareResults) { #expect(list == Page(data: list.data)) }
    }

    @Test("A query takes part in reading and removing one record", arguments: Subject.all)
    func queryOnOne(_ subject: Subject) async throws {
        let messages = try await subject.app().service("messages")
        let created = try await messages.create(["owner": "ada"])
        let id = try #require(created["id"].flatMap { ServiceID($0) })
        await #expect { try await messages.get(id, query: .where("owner", "bob")) } throws: {
            FeathersError.Code.notFound ~= $0
        }
        await #expect { try await messages.remove(id, query: .where("owner", "bob")) } throws: {
            FeathersError.Code.notFound ~= $0
        }
        #expect(try await messages.get(id, query: .where("owner", "ada"))["owner"] == "ada")
    }
}
