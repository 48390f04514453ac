public import Foundation

/// The traffic recorded between the JavaScript client and a real server.
public enum WireRecordings {
    /// The folder `FEATHERS_WIRE` names, or the copy in `Tests/Wire`.
    public static var folder: URL {
        Environment.value("FEATHERS_WIRE").map { URL(filePath: $0, directoryHint: .isDirectory) } ?? PackageFolder.wire
    }
}
