import FeathersCore
import Foundation
import TestBackend

/// The recorded HTTP traffic of one version of FeathersJS, from the folder `FEATHERS_WIRE` names or the copy in
/// `Tests/Support/Wire`.
struct HTTPRecording: Sendable {
    let cases: [RecordedCase]
    /// The number of cases that the files say they have.
    let count: Int

    static let rest = Result { () throws(ReplayFailure) in try HTTPRecording("rest") }
    static let feathers6 = Result { () throws(ReplayFailure) in try HTTPRecording("http-sse") }

    private init(_ kind: String) throws(ReplayFailure) {
        var (cases, count) = ([RecordedCase](), 0)
        for file in WireRecordings.files(of: kind) {
            do {
                let json = try JSONValue(parsing: Array(Data(contentsOf: file)))
                let read = try (json["cases"]?.array ?? []).map { try RecordedCase($0, isVersion6: kind == "http-sse") }
                cases += read
                count += json["meta"]?["caseCount"]?.integer.map { Int($0) } ?? read.count
            } catch {
                throw ReplayFailure("\(file.path()) is no recording: \(error)")
            }
        }
        guard !cases.isEmpty else {
            throw ReplayFailure("There is no \(kind).json with cases in \(WireRecordings.folder.path())")
        }
        (self.cases, self.count) = (cases, count)
    }
}

extension Result where Success == HTTPRecording {
    /// Every case; none if a file could not be read, which the suites' summaries report.
    var cases: [RecordedCase] { (try? get().cases) ?? [] }
}
