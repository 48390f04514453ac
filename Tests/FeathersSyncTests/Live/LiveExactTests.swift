import Feathers
import FeathersTesting
import Foundation
import Testing

@Suite("Records whose ids differ only in their Unicode form", .timeLimit(.minutes(5)))
struct LiveExactTests {
    private let ids = ["jos\u{e9}", "jose\u{301}"]

    @Test("are two rows, which their own events change")
    func rows() async throws {
        let ids = ids
        let transport = StubRealTimeTransport(
            passingThrough: StubTransport { _ in .array(ids.map { ["id": .string($0), "n": 0] }) })
        let app = FeathersApp(transport: transport)
        try await withFeathersApp(app) { app in
            var snapshots = app.service("users").live().snapshots.makeAsyncIterator()
            var snapshot = try await snapshots.next()
            #expect(snapshot?.count == 2)
            #expect(Set(snapshot?.map(\.id) ?? []).count == 2)
            transport.emit(.patched, of: "users", ["id": .string(ids[1]), "n": 1])
            snapshot = try await snapshots.next()
            let numbers = snapshot?.map { row in
                (Array(row.record["id"]?.string?.utf8 ?? "".utf8), row.record["n"]?.integer)
            }
            #expect(numbers?.first { $0.0 == Array(ids[0].utf8) }?.1 == 0)
            #expect(numbers?.first { $0.0 == Array(ids[1].utf8) }?.1 == 1)
        }
    }
}
