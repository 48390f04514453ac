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
        #expect(records[2, write.path, ["room": "A"]]?.isSettled == true)
        #expect(records[2, write.path, ["room": "B"]] == nil)
    }

    @Test("A write to a record of an array that is being created does not count as the server's assignment of its id")
    func arrays() throws {
        var records = ProvisionalRecords()
        let creation = Self.write(.create, nil, room: "A", data: [["text": "a"], ["text": "b"]], lane: "lane of the array")
        records.add(creation)
        let id = ServiceID.string(creation.provisionalKey(at: 1))
        records.add(Self.write(.patch, id, room: "A", lane: creation.lane))
        let known = try #require(records[id, creation.path, creation.route])
        #expect(!known.isSettled && known.lane == creation.lane)
    }

    private static func write(
        _ method: ServiceMethod, _ id: ServiceID?, room: String, data: JSONValue = ["n": 1], lane: String = "lane"
    ) -> OutboxWrite {
        let key = UUID()
        return OutboxWrite(
            id: key, key: key, path: "rooms/:room/notes", method: method, recordID: id, data: data, query: Query(), route: ["room": room],
            date: Date(), identity: nil, base: nil, entityTag: nil, lane: lane)
    }
}
