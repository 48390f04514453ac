import Testing

@testable import FeathersNetworking

@Suite("Reading the head of an answer")
struct HTTPHeadReaderTests {
    private func read(_ lines: [String]) throws -> HTTPHeadReader {
        var reader = HTTPHeadReader()
        for line in lines {
            try Array((line + "\r\n").utf8).withUnsafeBytes { bytes in try reader.read(bytes) }
        }
        return reader
    }

    @Test("gives status and fields, trimmed, in order and twice where they came twice")
    func fields() throws {
        let reader = try read(["HTTP/1.1 404 Not Found", "A: 1", "b:\t2 \t", "A:", "C: a: b", ""])
        #expect(reader.isComplete)
        #expect(reader.status == 404)
        #expect(reader.fields.map(\.name) == ["A", "b", "A", "C"])
        #expect(reader.fields.map(\.value) == ["1", "2", "", "a: b"])
    }

    @Test(
        "accepts every form of status line",
        arguments: ["HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/2 200 ", "HTTP/3 200", "HTTP/1.0 200 O K"])
    func statusLines(line: String) throws {
        #expect(try read([line, ""]).status == 200)
    }

    @Test(
        "refuses everything else",
        arguments: [
            "", "hello", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 2000", "HTTP/1.1 099", "HTTP/1.1 2x0",
            "HTTP/ 200",
            "HTTP/x 200", "HTTP/1.1\t200", "http/1.1 200", "HTTP/1.1 -20",
        ])
    func malformedStatusLines(line: String) {
        #expect(throws: HTTPHeadReader.Failure.malformedStatusLine) { try read([line]) }
    }

    @Test("refuses what is no field", arguments: ["no colon", ": no name", "A: b\0c"])
    func malformedFields(line: String) {
        #expect(throws: HTTPHeadReader.Failure.malformedField) { try read(["HTTP/1.1 200 OK", line]) }
    }

    @Test("leaves out interim answers and trailers")
    func interim() throws {
        let reader = try read([
            "HTTP/1.1 103 Early", "Link: x", "", "HTTP/1.1 200 OK", "A: 1", "", "Trailer: y", "HTTP/1.1 500 no",
        ])
        #expect(reader.status == 200)
        #expect(reader.fields.map(\.name) == ["A"])
        #expect(try !read(["HTTP/1.1 100 Continue", ""]).isComplete)
    }

    @Test("unfolds folded fields")
    func folded() throws {
        let reader = try read(["HTTP/1.1 200 OK", "A: 1", " 2", "\t3", ""])
        #expect(reader.fields.map(\.value) == ["1 2 3"])
        #expect(throws: HTTPHeadReader.Failure.malformedField) { try read(["HTTP/1.1 200 OK", " no field before"]) }
    }

    @Test(
        "accepts lengths that are the same number",
        arguments: [
            ["Content-Length: 5"], ["Content-Length: 5", "content-length: 05"], ["Content-Length: 5, 5"],
            ["Content-Length: 9223372036854775807"],
        ])
    func lengths(fields: [String]) throws {
        #expect(try read(["HTTP/1.1 200 OK"] + fields + [""]).isComplete)
    }

    @Test(
        "refuses lengths that differ, are no numbers or too large ones",
        arguments: [
            ["Content-Length: 5", "content-length: 6"], ["Content-Length: 5", "A: 1", "Content-Length: 5x"],
            ["Content-Length: 5, 6"],
            ["Content-Length: 8abc"], ["Content-Length: 99999999999999999999"], ["Content-Length: 9223372036854775808"],
            ["Content-Length:"], ["Content-Length: 5,"], ["Content-Length: -5"], ["Content-Length: +5"],
            ["Content-Length: 5 5"],
        ])
    func invalidLengths(fields: [String]) throws {
        #expect(throws: HTTPHeadReader.Failure.invalidLength) { try read(["HTTP/1.1 200 OK"] + fields + [""]) }
        // What an interim answer says of a body it cannot have is nobody's.
        #expect(try read(["HTTP/1.1 103 Early"] + fields + ["", "HTTP/1.1 200 OK", ""]).isComplete)
    }

    @Test("ends at its limit, whether in one head or many")
    func limit() {
        let long = "A: " + String(repeating: "a", count: 1000)
        #expect(throws: HTTPHeadReader.Failure.tooLarge) {
            try read(["HTTP/1.1 200 OK"] + Array(repeating: long, count: 400))
        }
        let interim = ["HTTP/1.1 100 Continue", ""]
        #expect(throws: HTTPHeadReader.Failure.tooLarge) {
            try read(Array(repeating: interim, count: 15_000).flatMap { $0 })
        }
    }
}
