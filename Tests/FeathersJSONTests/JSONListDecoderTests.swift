import FeathersJSON
import FeathersTesting
import Synchronization
import Testing

@Suite("The decoder of a list's records")
struct JSONListDecoderTests {
    private struct Record: Codable, Equatable {
        struct Author: Codable, Equatable {
            var userName: String
        }

        var id: Int
        var textBody: String?
        var author: Author?
        var tags: [String]
    }

    /// Decodes every record alone, and by a decoder of the list. Both must agree, in errors too.
    private func expectSame(_ records: [String], _ options: CodingOptions = CodingOptions()) throws {
        let records = try records.map { try JSONValue(parsing: $0) }
        let (single, list) = (JSONValueDecoder(options), JSONListDecoder(options))
        let alone = records.map { record in text { try single.decode(Record.self, from: record) } }
        let together = records.map { record in text { try list.decode(Record.self, from: record) } }
        #expect(together == alone)
    }

    private func text(_ decode: () throws -> Record) -> String {
        "\(Result { try decode() })"
    }

    @Test("decodes each record as if it were alone, whatever the order of its keys")
    func orders() throws {
        let records = [
            #"{"id":1,"textBody":"a","author":{"userName":"x"},"tags":[]}"#,
            #"{"id":2,"textBody":"b","author":{"userName":"y"},"tags":["t"]}"#,
            #"{"tags":["u"],"author":{"other":0,"userName":"z"},"textBody":null,"id":3}"#,
            #"{"id":4,"tags":[]}"#,
            #"{"other":[{"id":9}],"id":5,"tags":["id"],"textBody":"tags"}"#,
            #"{"tags":["v"],"author":{"userName":"w"},"textBody":"c","id":6}"#,
        ]
        try expectSame(records)
        try expectSame(records.reversed())
        try expectSame(records + records.reversed())
    }

    @Test("throws for a record what decoding it alone throws, and goes on with the next")
    func errors() throws {
        try expectSame([
            #"{"id":1,"tags":[]}"#, #"{"id":"2","tags":[]}"#, #"{"tags":[]}"#, "null", "[]", "1",
            #"{"id":3,"tags":[4]}"#,
            #"{"id":5,"tags":[],"author":{}}"#, #"{"id":6,"tags":[]}"#,
        ])
    }

    @Test("follows the key format, and finds keys that are spelled differently")
    func keys() throws {
        try expectSame(
            [
                #"{"id":1,"text_body":"a","author":{"user_name":"x"},"tags":[]}"#,
                #"{"id":2,"author":{"user_Name":"y"},"tags":[],"text_Body":"b"}"#,
                #"{"id":3,"textBody":"c","tags":[]}"#,
                #"{"id":4,"text_body":"d","tags":[]}"#,
            ], CodingOptions(keys: .snakeCase))
    }

    @Test("agrees with decoding alone for any records", arguments: 0..<5)
    func anyRecords(seed: UInt64) throws {
        var random = SeededGenerator(seed: 700 + seed)
        let members = [
            #""id":1"#, #""tags":["a","b"]"#, #""textBody":"c""#, #""author":{"userName":"d"}"#, #""other":{"id":2}"#,
        ]
        for _ in 0..<20 {
            let records = (0..<20).map { _ in
                "{"
                    + members.shuffled(using: &random).dropLast(Int.random(in: 0...2, using: &random)).joined(
                        separator: ",") + "}"
            }
            try expectSame(records)
        }
    }

    @Test("converts the name of a property once for all records")
    func conversions() throws {
        final class Counter: Sendable {
            let count = Atomic(0)
        }
        let counter = Counter()
        let format = JSONKeyFormat.custom(
            encode: { name in
                counter.count.add(1, ordering: .relaxed)
                return name.uppercased()
            }, decode: { $0.lowercased() })
        let decoder = JSONListDecoder(CodingOptions(keys: format))
        for id in 0..<100 {
            let record: JSONValue = [
                "ID": .integer(Int64(id)), "TEXTBODY": "a", "AUTHOR": ["USERNAME": "b"], "TAGS": [],
            ]
            #expect(try decoder.decode(Record.self, from: record).id == id)
        }
        #expect(counter.count.load(ordering: .relaxed) == 5)
    }
}
