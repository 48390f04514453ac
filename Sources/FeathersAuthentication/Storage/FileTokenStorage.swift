import Dispatch
import FeathersCore
public import Foundation

/// Keeps tokens in files that nobody but their owner can read: for servers and command-line tools.
///
/// Each key has a file of its own in the directory. It is written beside its place, flushed to the disk and moved there in one step, with mode 0600
/// from its first moment: a reader, or a crash, finds the old token or the new one and never a part of either. So any number of storages and
/// processes may use one directory.
public struct FileTokenStorage: TokenStorage {
    /// The directory the files are in.
    public let directory: URL

    /// A storage in a directory.
    /// - Parameter directory: where the files go; made, with mode 0700, when the first token is stored.
    public init(directory: URL) {
        self.directory = directory
    }

    /// The token of a key; nil where none is stored.
    /// - Throws: ``FeathersError`` naming the file where it can not be read, holds no token, or can be read by others than its owner: a token that others
    ///   may know is worth nothing, so that it must be removed and its mode mended by hand.
    public func token(for key: String) async throws -> String? {
        try await Self.offThePool { try PrivateFile(path: path(of: key)).read() }
    }

    public func store(_ token: String, for key: String) async throws {
        try await Self.offThePool {
            do {
                try FileManager.default.createDirectory(
                    at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw FeathersError(
                    .generalError, "The directory '\(directory.path)' for tokens can not be made: \(error.localizedDescription)")
            }
            try PrivateFile(path: path(of: key)).replace(with: token)
        }
    }

    public func remove(for key: String) async throws {
        try await Self.offThePool { try PrivateFile(path: path(of: key)).remove() }
    }

    /// Where files are read and written: flushing to a busy disk may take seconds, which must not hold up the threads all tasks share.
    private static let queue = DispatchQueue(label: "feathers.token-files")

    private static func offThePool<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }

    /// The file of a key; what no file name should hold is percent-encoded.
    private func path(of key: String) -> String {
        var name = ""
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default: name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return directory.appending(component: "\(name).token").path
    }
}
