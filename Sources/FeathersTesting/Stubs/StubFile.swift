import FeathersCore
import Foundation

/// A file that contains a response. It is read again for every call.
struct StubFile: Sendable {
    let url: URL

    /// - Throws: ``FeathersError`` that names the file if it does not exist or cannot be read.
    func bytes() throws -> [UInt8] {
        do {
            return Array(try Data(contentsOf: url))
        } catch {
            let exists = FileManager.default.fileExists(atPath: url.path)
            throw FeathersError(
                .generalError, "The stub file '\(url.path)' \(exists ? "cannot be read" : "does not exist")",
                execution: .neverSent,
                cause: error)
        }
    }

    /// - Throws: ``FeathersError`` that names the file if it is not JSON.
    func json() throws -> JSONValue {
        let bytes = try bytes()
        do {
            return try JSONValue(parsing: bytes)
        } catch {
            throw FeathersError(
                .generalError, "The stub file '\(url.path)' is not JSON: \(error)", execution: .neverSent, cause: error)
        }
    }
}
