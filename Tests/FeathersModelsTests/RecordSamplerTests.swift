import FeathersJSON
import FeathersModels
import Testing

@Suite("Guesses from records")
struct RecordSamplerTests {
    @Test("say what is there, how often, and how sure they are")
    func guess() throws {
        let records: [JSONValue] = (0..<30).map { number in
            var record: JSONValue = [
                "id": .integer(Int64(number)), "at": "2024-01-02T03:04:05.678Z",
                "state": number % 2 == 0 ? "open" : "done", "score": 1,
                "tags": ["a"], "place": ["city": "Rome"], "gone": nil,
            ]
            if number == 3 { record["score"] = 1.5 }
            if number > 9 { record["note"] = number > 19 ? JSONValue.null : "x" }
            return record
        }
        let sampler = RecordSampler(path: "tasks", records: records)
        #expect(sampler.confidence == "tasks: fairly sure, from 30 records")
        let source = try #require(sampler.source)
        let text = try #require(ModelGenerator(origin: "records").generate(from: [source]).files["TaskRecord.swift"])
        #expect(text.contains("    var at: Date\n"))
        #expect(text.contains("    var score: Double\n"))
        #expect(
            text.contains("    /// Unsure: perhaps an enumeration, of \"done\", \"open\".\n    var state: String\n"))
        #expect(text.contains("    /// In 20 of 30 records. Null in 10.\n    var note: String?\n"))
        #expect(text.contains("    var tags: [String]\n"))
        #expect(text.contains("        var city: String\n"))
    }

    @Test("of few records are called a sketch, of none there are none")
    func few() {
        #expect(RecordSampler(path: "a", records: [["id": 1]]).confidence == "a: a sketch, from 1 record")
        #expect(RecordSampler(path: "a", records: []).source == nil)
        #expect(RecordSampler(path: "a", records: ["text"]).source == nil)
    }
}
