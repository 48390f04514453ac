import FeathersCore
import Foundation
import Testing

@testable import FeathersSync

@Suite("Kept results on disk")
struct KeptResultTests {
    private static let key = KeptResultKey(identity: Identity("alice"), path: "notes", text: "{}")

    private static func result(_ count: Int64) throws -> KeptResult {
        let plan = try LiveQueryPlan(.sorted(by: "id"), id: "id")
        var view = LiveView(plan)
        let began = view.fetchBegan()
        let records: [JSONValue] = (0..<count).map { ["id": .integer($0), "text": "text \($0)"] }
        try view.fetched(Paginated(data: records, total: Int(count)), asked: began.asked, at: began.tick)
        return try #require(KeptResult(LiveFeed(view, as: RequestSender(Identity("alice"))), for: key))
    }

    /// The file of a result, in parts of eight records.
    private static func bytes(_ count: Int64 = 20) throws -> [UInt8] { try result(count).bytes(of: key, recordsPerPart: 8) }

    @Test("are read whole or not at all, wherever they are cut off and whichever byte has changed")
    func damaged() async throws {
        let whole = try Self.bytes()
        for length in whole.indices {
            await #expect(throws: (any Error).self) { try await KeptResult(Array(whole[..<length]), of: Self.key) }
        }
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 0x10
            await #expect(throws: (any Error).self, "byte \(index)") { try await KeptResult(bytes, of: Self.key) }
        }
        await #expect(throws: (any Error).self) { try await KeptResult(whole + [0], of: Self.key) }
    }

    @Test("have their records in order, in however many parts", arguments: [0, 1, 7, 8, 9, 16, 100])
    func parts(_ count: Int64) async throws {
        let result = try await KeptResult(Self.bytes(count), of: Self.key)
        #expect(result.page.data.map { $0["id"]?.integer } == (0..<count).map(\.self))
        #expect(result.page.total == Int(count) && result.isComplete)
    }

    @Test("are not written if the file would be larger than can be read", arguments: [0, 1, 20])
    func size(_ count: Int64) throws {
        let result = try Self.result(count)
        let whole = try result.bytes(of: Self.key)
        for limit in whole.indices { #expect(throws: KeptResult.Failure.tooLarge) { try result.bytes(of: Self.key, atMost: limit) } }
        #expect(try result.bytes(of: Self.key, atMost: whole.count) == whole)
    }

    @Test("are those of one user and query")
    func others() async throws {
        let whole = try Self.bytes()
        for other in [
            KeptResultKey(identity: Identity("bob"), path: "notes", text: "{}"), KeptResultKey(identity: nil, path: "notes", text: "{}"),
            KeptResultKey(identity: Identity("alice"), path: "other", text: "{}"),
        ] {
            await #expect(throws: KeptResult.Failure.otherQuery) { try await KeptResult(whole, of: other) }
        }
    }
}

extension LiveFeed {
    /// A feed whose view was fetched for a sender.
    convenience init(_ view: LiveView, as sender: RequestSender) {
        self.init(FeathersApp().service("notes").reading(), view)
        withState { $0.sender = sender }
    }
}
