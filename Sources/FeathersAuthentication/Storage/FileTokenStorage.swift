import FeathersCore
import FeathersSupport
public import Foundation

/// Keeps tokens in files that only their owner can read: for servers and command-line tools.
///
/// Each key has a file of its own in the directory. A token is written beside its place with mode 0600, flushed to the disk and moved there in one step:
/// a reader, or a crash, finds the old token or the new one and never a part of either. So any number of storages and processes may use one directory.
///
/// Links are not followed. The directory and its files must belong to the user of the process, and other users must not be able to write to the
/// directory or to read a file.
public struct FileTokenStorage: TokenStorage {
    private let files: TokenFiles

    /// A storage in a directory, which is made, with mode 0700, when the first token is stored.
    public init(directory: URL) { files = TokenFiles(directory: directory.path) }

    /// The token of a key; nil where none is stored.
    /// - Throws: ``FeathersError`` naming the file where it cannot be read, holds no token, or can be read by other users. A token that others may
    ///   know must not be used: remove the file, or change its mode.
    public func token(for key: String) async throws -> String? { try await files.read(name(of: key)) }
    public func store(_ token: String, for key: String) async throws { try await files.replace(name(of: key), with: token) }
    public func remove(for key: String) async throws { try await files.remove(name(of: key)) }

    /// The name of a key's file. All but plain letters and digits is percent-encoded.
    private func name(of key: String) -> String {
        var name = ""
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default: name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return "\(name).token"
    }
}

/// Reads and writes the files of one directory, off the cooperative pool.
private actor TokenFiles {
    /// Longer than any token, in bytes.
    private static let maximumSize = 1 << 20

    private let directory: String
    private let executor = DiskExecutor(label: "feathers.token-files")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(directory: String) { self.directory = directory }

    func read(_ name: String) throws -> String? {
        try attempt("read", name) {
            guard let file = try SafeDirectory.open(directory)?.open(name, isSecret: true) else { return nil }
            let bytes = try file.readAll(atMost: Self.maximumSize)
            guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
                throw FileFailure(file.path, .refused("it holds no token"))
            }
            return text
        }
    }

    func replace(_ name: String, with token: String) throws {
        // Several processes may write at once, each a draft of its own.
        let draft = "\(name).\(UUID().uuidString)"
        try attempt("written", name) { try SafeDirectory.make(directory).replace(name, with: Array(token.utf8), draft: draft) }
    }

    func remove(_ name: String) throws {
        try attempt("removed", name) {
            guard let directory = try SafeDirectory.open(directory), try directory.remove(name) else { return }
            // A crash must not bring the token back.
            try directory.synchronize()
        }
    }

    private func attempt<Value>(_ what: String, _ name: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw FeathersError(.generalError, "The token file '\(directory)/\(name)' cannot be \(what): \(error)", cause: error)
        }
    }
}
