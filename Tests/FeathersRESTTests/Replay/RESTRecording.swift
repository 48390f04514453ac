import FeathersCore
import Foundation
import TestBackend

/// The recorded REST traffic, from the folder `FEATHERS_WIRE` names or the copy in `Tests/Wire`.
enum RESTRecording {
    static let loaded: Result<(cases: [RecordedCase], count: Int), ReplayFailure> = {
        let file = WireRecordings.folder.appending(path: "rest.json")
        guard let data = try? Data(contentsOf: file) else { return .failure(ReplayFailure("There is no \(file.path())")) }
        do {
            let json = try JSONValue(parsing: Array(data))
            let cases = try (json["cases"]?.array ?? []).map { try RecordedCase($0) }
            return .success((cases, json["meta"]?["caseCount"]?.integer.map { Int($0) } ?? cases.count))
        } catch {
            return .failure(ReplayFailure("\(file.path()) is no recording: \(error)"))
        }
    }()

    /// Every case; none where the file could not be read, which `RESTReplayTests` reports.
    static let cases = (try? loaded.get().cases) ?? []
}
