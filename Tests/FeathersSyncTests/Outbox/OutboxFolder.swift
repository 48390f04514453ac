import Foundation

/// A folder for an outbox and whatever belongs to it, removed with this object.
final class OutboxFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(
        path: "feathers-outbox-\(UUID().uuidString)", directoryHint: .isDirectory)

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    var file: URL { url.appending(path: "writes.outbox") }
}
