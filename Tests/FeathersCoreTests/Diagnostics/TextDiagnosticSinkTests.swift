import FeathersCore
import Foundation
import Synchronization
import Testing

@Suite("Diagnostics as text", .timeLimit(.minutes(10)))
struct TextDiagnosticSinkTests {
    private func lines(_ events: [DiagnosticEvent]) -> [String] {
        let lines = Mutex<[String]>([])
        let sink = ClosureDiagnosticSink.text { line in lines.withLock { $0.append(line) } }
        for event in events { sink.receive(event) }
        return lines.withLock { $0 }
    }

    @Test("are one line each")
    func format() {
        let event = DiagnosticEvent(
            .warning, .cache, "miss",
            ["key": "k", .duration: .duration(.milliseconds(12)), "fresh": false, "n": 3, .query: .json(["a": 1])],
            callID: 17, time: Date(timeIntervalSince1970: 1_704_164_645.678))
        #expect(
            lines([event]) == [
                #"""
                2024-01-02T03:04:05.678Z warning cache miss key=k duration=12 ms fresh=false n=3 query={"a":1} call=17
                """#
            ])
    }

    @Test("stay on their line, whatever they are about")
    func control() {
        let event = DiagnosticEvent(
            .info, .calls, "get m/1\r\n2024 error calls forged\u{1b}[31m", ["id": "a\nb\u{2028}c\u{85}"])
        let text = lines([event]).joined()
        #expect(text.contains(#"get m/1\r\n2024 error calls forged\u{1B}[31m id=a\nb\u{2028}c\u{0085}"#), "\(text)")
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{2028}" })
    }

    @Test("are whole, with many threads that write to one file")
    func whole() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "diagnostics-\(UUID().uuidString).log")
        try Data().write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let handle = try FileHandle(forWritingTo: url)
        let sink = ClosureDiagnosticSink.text(to: handle)
        let payload = String(repeating: "x", count: 5000)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    sink.receive(DiagnosticEvent(.info, .calls, "begin \(payload) end", ["n": .integer(number)]))
                }
            }
        }
        try handle.close()
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 200)
        #expect(lines.allSatisfy { $0.contains("begin \(payload) end n=") && $0.count(where: { $0 == "b" }) == 1 })
        // What cannot be written is dropped, and nothing else happens.
        sink.receive(DiagnosticEvent(.info, .calls, "late"))
    }
}
