import FeathersCore
import Foundation
import Testing

@testable import FeathersSync

@Suite("Records that queued writes create")
struct ProvisionalRecordTests {
    @Test("A record is known in its own room only")
    func rooms() {
        var records = ProvisionalRecords()
        let write = Self.write(.patch, 1, room: "A", lane: "rooms/:room/notes?room=A&#provisional")
        records.add(write)
        #expect(records[1, write.path, ["room": "A"]]?.lane == write.lane)
        #expect(records[1, write.path, ["room": "B"]] == nil)
        let creation = Self.write(.create, nil, room: "A", data: ["text": "a"])
        records.add(creation)
        records.settle(creation, [creation.provisionalKey(): 2])
        #expect(records[2, write.path, ["room": "A"]]?.lane == creation.lane)
        #expect(records[2, write.path, ["room": "B"]] == nil)
    }

    @Test("A write to a record of an array that is being created does not count as the server's assignment of its id")
    func arrays() throws {
        var records = ProvisionalRecords()
        let creation = Self.write(
            .create, nil, room: "A", data: [["text": "a"], ["text": "b"]], lane: "lane of the array")
        records.add(creation)
        let id = ServiceID.string(creation.provisionalKey(at: 1))
        records.add(Self.write(.patch, id, room: "A", lane: creation.lane))
        let known = try #require(records[id, creation.path, creation.route])
        #expect(known.id == id && known.lane == creation.lane)
    }

    @Test(
        "The last 3,000 created records are known by their provisional ids, and every one that is still to be created")
    func limit() {
        var records = ProvisionalRecords()
        let pending = (0..<30_000).map { Self.write(.create, nil, room: "A", lane: "\($0)") }
        for write in pending { records.add(write) }
        func known(_ index: Int) -> ProvisionalRecords.Known? {
            records[.string(pending[index].provisionalKey()), pending[index].path, ["room": "A"]]
        }
        for (index, write) in pending.prefix(25_000).enumerated() {
            records.settle(write, [write.provisionalKey(): .integer(Int64(index))])
        }
        #expect(known(0) == nil)
        #expect((22_000..<25_000).allSatisfy { known($0)?.id == .integer(Int64($0)) })
        #expect((25_000..<30_000).allSatisfy { known($0)?.lane == "\($0)" })
    }

    @Test("At least the last values are remembered, the oldest are not, and those of one step together")
    func recentValues() {
        var values = RecentValues<Int>(limit: 10)
        for number in 0..<1000 {
            values.add(["\(number)": number])
            #expect(values.generations.reduce(0) { $0 + $1.count } <= 20)
            #expect((max(0, number - 9)...number).allSatisfy { values["\($0)"] == $0 })
        }
        values.add(Dictionary(uniqueKeysWithValues: (0..<100).map { ("\($0)", -$0) }))
        values.add(["another": 1])
        #expect((0..<100).allSatisfy { values["\($0)"] == -$0 })
        #expect(values.take("7") == -7 && values["7"] == nil && values.take("7") == nil)
    }

    private static func write(
        _ method: ServiceMethod, _ id: ServiceID?, room: String, data: JSONValue = ["n": 1], lane: String = "lane"
    ) -> OutboxWrite {
        let key = UUID()
        return OutboxWrite(
            id: key, key: key, path: "rooms/:room/notes", method: method, recordID: id, data: data, query: Query(),
            route: ["room": room],
            date: Date(), identity: nil, base: nil, entityTag: nil, lane: lane)
    }
}
