public import Foundation

/// The traffic recorded between the JavaScript client and a real server.
public enum WireRecordings {
    public static var folder: URL { Environment.wire }

    /// The recordings of a kind in that folder: `rest.json`, and further ones such as `rest-2.json`.
    public static func files(of kind: String) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.filter { $0 == "\(kind).json" || ($0.hasPrefix("\(kind)-") && $0.hasSuffix(".json")) }.sorted()
            .map { folder.appending(path: $0) }
    }
}
