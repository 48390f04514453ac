import FeathersCore
import Testing

@testable import FeathersTraffic

@Suite("The batch service's wire form")
struct BatchWireFormTests {
    @Test("Results are read by position, each with its own error")
    func results() throws {
        let answer: JSONValue = [
            ["status": "fulfilled", "value": ["id": 1]],
            ["status": "rejected", "reason": ["name": "NotFound", "code": 404, "className": "not-found", "message": "No record"]],
            // JavaScript's undefined is left out.
            ["status": "fulfilled"],
            ["status": "rejected", "reason": ["message": "boom"]],
            ["status": "pending"],
        ]
        let results = try BatchWireForm.results(of: answer, count: 5, from: "batch")
        #expect(try results[0].get().result == ["id": 1])
        #expect { try results[1].get() } throws: { FeathersError.Code.notFound ~= $0 && "\($0)".contains("No record") }
        #expect(try results[2].get().result == .null)
        #expect { try results[3].get() } throws: { FeathersError.Code.generalError ~= $0 && "\($0)".contains("boom") }
        #expect { try results[4].get() } throws: { "\($0)".contains("'batch' responded to a call with neither") }
    }

    @Test(
        "What is no answer to so many calls fails",
        arguments: [.null, ["status": "fulfilled"], [], [["status": "fulfilled"]]] as [JSONValue])
    func mismatch(answer: JSONValue) {
        #expect {
            try BatchWireForm.results(of: answer, count: 2, from: "batch")
        } throws: { "\($0)".contains("The batch service 'batch' responded to 2 calls with") }
    }
}
