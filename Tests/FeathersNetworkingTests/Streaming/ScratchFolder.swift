import Foundation

/// A folder of a test's own, removed with its last owner.
final class ScratchFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "feathers-test-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The names of what is inside, hidden files included.
    var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: url.path).sorted()) ?? []
    }

    /// Writes a file.
    func file(_ name: String, _ bytes: [UInt8]) throws -> URL {
        let file = url.appending(path: name)
        try Data(bytes).write(to: file)
        return file
    }

    /// What `/__source` of the script server sends.
    static func pattern(_ count: Int) -> [UInt8] {
        // Doubled, which copies bytes in one go without the optimizer, too.
        var bytes = (0..<251).map { UInt8($0 * 31 % 251) }
        while bytes.count < count { bytes += bytes }
        return Array(bytes[..<count])
    }
}
