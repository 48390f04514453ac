import FeathersModels
import Foundation

/// The folder for the generated files.
struct OutputFolder {
    let path: String

    /// The reason why a file cannot be written.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    private var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

    /// The Swift files in the folder itself, with their text.
    func swiftFiles() throws -> [String: String] {
        guard FileManager.default.fileExists(atPath: path) else { return [:] }
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".swift") }
            return Dictionary(
                uniqueKeysWithValues: try names.map {
                    ($0, String(decoding: try Data(contentsOf: url.appending(path: $0)), as: UTF8.self))
                }
            )
        } catch {
            throw Problem(description: "'\(path)' cannot be read: \(error.localizedDescription)")
        }
    }

    func apply(_ plan: OutputPlan) throws {
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            for (name, text) in plan.written {
                try Data(text.utf8).write(to: url.appending(path: name), options: .atomic)
            }
            for name in plan.removed { try FileManager.default.removeItem(at: url.appending(path: name)) }
        } catch {
            throw Problem(description: "'\(path)' cannot be written: \(error.localizedDescription)")
        }
    }
}
