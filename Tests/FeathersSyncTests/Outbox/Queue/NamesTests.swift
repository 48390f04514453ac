import FeathersCore
import Foundation
import Testing

@testable import FeathersSync

@Suite("Names of records that queued writes create")
struct NamesTests {
    private let options = OutboxOptions { _ in }

    @Test("A record is known in its own room only")
    func rooms() {
        var names = Names()
        let write = Self.write(.patch, 1, room: "A", lane: "rooms/:room/notes?room=A&#provisional")
        names.add(write, options)
        #expect(names[1, write.path, ["room": "A"]]?.lane == write.lane)
        #expect(names[1, write.path, ["room": "B"]] == nil)
        let creation = Self.write(.create, nil, room: "A", data: ["text": "a"])
        names.add(creation, options)
        names.end(creation, [creation.provisionalKey(): .assigned(2)])
        #expect(names[2, write.path, ["room": "A"]]?.lane == creation.lane)
        #expect(names[2, write.path, ["room": "B"]] == nil)
    }

    @Test("A write to a record of an array that is being created does not count as the server's assignment of its id")
    func arrays() throws {
        var names = Names()
        let creation = Self.write(
            .create, nil, room: "A", data: [["text": "a"], ["text": "b"]], lane: "lane of the array")
        names.add(creation, options)
        let id = ServiceID.string(creation.provisionalKey(at: 1))
        names.add(Self.write(.patch, id, room: "A", lane: creation.lane), options)
        let known = try #require(names[id, creation.path, creation.route])
        #expect(known.id == id && known.lane == creation.lane)
    }

    @Test("The last created records are known by their keys, and every one that is still to be created")
    func limit() {
        var names = Names()
        let pending = (0..<50_000).map { Self.write(.create, nil, room: "A", lane: "\($0)") }
        for write in pending { names.add(write, options) }
        func known(_ index: Int) -> Names.Known? {
            names[.string(pending[index].provisionalKey()), pending[index].path, ["room": "A"]]
        }
        for (index, write) in pending.prefix(45_000).enumerated() {
            names.end(write, [write.provisionalKey(): .assigned(.integer(Int64(index)))])
        }
        #expect(known(0) == nil)
        #expect((45_000 - Names.limit..<45_000).allSatisfy { known($0)?.id == .integer(Int64($0)) })
        #expect((45_000..<50_000).allSatisfy { known($0)?.lane == "\($0)" })
    }

    @Test("Every place of a call has the id: values, names of properties, operands and the route, in any form")
    func places() throws {
        var names = Names()
        let creation = Self.write(.create, nil, room: "A")
        let key = creation.provisionalKey()
        names.add(creation, options)
        let number = JSONValue.provisionalNumber(for: key)
        var call = Self.write(
            .patch, .string(key.uppercased()), room: key,
            data: [
                "board": .string(key), "boards": [.string(key.uppercased()), number, 5],
                "votes": .object([key: ["by": number]]), "text": .string("see \(key)"),
            ])
        call.query = Query(["board": ["$in": [.string(key), 3]], key: 1])
        var missing: [Names.Missing] = []
        #expect(names.translated(call, &missing) == call)
        #expect(
            Set(missing.map(\.property)) == [
                "the id", "the route's 'room'", "data.board", "data.boards", "data.votes.\(key)",
                "data.votes.\(key).by", "query.board.$in", "query.\(key)",
            ])
        #expect(missing.allSatisfy { $0.name == .queued(creation.id) } && FeathersError(missing, in: "It") == nil)

        names.end(creation, [key: .assigned(7)])
        missing = []
        let sent = names.translated(call, &missing)
        #expect(missing.isEmpty && sent.recordID == 7 && sent.route == ["room": "7"])
        #expect(
            sent.data == [
                "board": 7, "boards": [7, 7, 5], "votes": ["7": ["by": 7]], "text": .string("see \(key)"),
            ])
        #expect(.object(sent.query.json) == ["board": ["$in": [7, 3]], "7": 1] as JSONValue)
    }

    @Test("A record whose creation was discarded, or whose id the server has not said, has none: the error says where")
    func gone() {
        for (isExecuted, code) in [(false, FeathersError.Code.gone), (true, .badRequest)] {
            var names = Names()
            let creation = Self.write(.create, nil, room: "A")
            names.add(creation, options)
            names.end(creation, isExecuted ? [:] : [creation.provisionalKey(): .gone])
            var missing: [Names.Missing] = []
            _ = names.translated(["card": ["board": .string(creation.provisionalKey())]], in: "data", &missing)
            let error = FeathersError(missing, in: "The call")
            #expect(error?.code == code && error?.message.contains("data.card.board") == true)
            #expect(error?.execution == .neverSent)
        }
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
