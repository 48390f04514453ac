import FeathersCore
import Foundation
import Testing

@Suite("Numbers of many digits in services")
struct LongNumberTests {
    private struct Account: Codable, Sendable, Equatable {
        var id: Decimal
        var balance: Decimal
        var views: UInt64
    }

    private static let ids = ["12345678901234567890123", "12345678901234567890124", "18446744073709551615"]

    private func accounts() async throws -> Service<Account> {
        let app = FeathersApp()
        let records = try Self.ids.map { id -> JSONObject in
            ["id": try JSONValue(parsing: id), "balance": try JSONValue(parsing: "0.1234567890123456789"), "views": 1]
        }
        try await app.use(MemoryService(multi: .all, records: records), at: "accounts")
        return app.service("accounts", of: Account.self)
    }

    @Test("find the record with an id of 23 digits, and no other")
    func ids() async throws {
        let accounts = try await accounts()
        let id = try #require(Decimal(string: Self.ids[1]))
        #expect(try await accounts.get(id).id == id)
        #expect(try await accounts.json.get(UInt64.max)["id"]?.description == Self.ids[2])
        #expect(try await accounts.find(.where("id", id)).data.map(\.id) == [id])
        #expect(try await accounts.find(.where("id", UInt64.max)).data.count == 1)
        try await accounts.remove(id)
        #expect(try await accounts.find().data.map(\.id.description) == [Self.ids[0], Self.ids[2]])
    }

    @Test("are stored, sorted and returned to the last digit")
    func digits() async throws {
        let accounts = try await accounts()
        let sorted = try await accounts.find(.sorted(by: "id", .descending)).data
        #expect(sorted.map(\.id.description) == [Self.ids[1], Self.ids[0], Self.ids[2]])
        #expect(sorted[0].balance.description == "0.1234567890123456789")
        let id = try #require(Decimal(string: Self.ids[0]))
        let account = try await accounts.update(
            id, with: Account(id: id, balance: try #require(Decimal(string: "99999999999999999999.99")), views: .max))
        let json = try await accounts.json.get(id)
        #expect(account.views == .max && json["views"]?.description == "18446744073709551615")
        #expect(json["balance"]?.description == "99999999999999999999.99")
    }

    @Test(
        "are compared by value",
        arguments: [
            ("9007199254740993", "9007199254740992.0", 1), ("1", "1.0", 0), ("0.1", "0.10000000000000000001", -1),
            ("1e400", "1e399", 1),
            ("-1e400", "1e-400", -1), ("1e400", "10e399", 0), ("9223372036854775807", "9223372036854775807.5", -1),
            ("0", "1e-400", -1),
            ("18446744073709551616", "18446744073709551615", 1),
        ])
    func order(left: String, right: String, order: Int) throws {
        let (left, right) = (try JSONValue(parsing: left), try JSONValue(parsing: right))
        #expect(left.numericOrder(to: right)?.signum() == order && right.numericOrder(to: left)?.signum() == -order)
        #expect((left == right) == (order == 0))
    }

    @Test("are a part of ids in paths and in JSON")
    func serviceIDs() throws {
        let id = try #require(ServiceID(JSONValue(parsing: Self.ids[0])))
        #expect(id.description == Self.ids[0] && id.json.description == Self.ids[0])
        #expect(try JSONValue(encoding: [id]).decode([ServiceID].self) == [id])
        #expect(try JSONDecoder().decode([ServiceID].self, from: JSONEncoder().encode([id, "1", 1])) == [id, "1", 1])
        #expect(ServiceID(UInt64.max).description == "18446744073709551615")
    }
}
