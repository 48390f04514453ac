import FeathersCore
import FeathersSupport
public import Foundation

/// A storage that keeps tokens in files that only their owner can read. Use it for servers and command-line tools.
///
/// Each key has its own file in the directory. A token is written to a separate file with mode 0600, flushed to disk,
/// and moved into place atomically: after a crash, or for a concurrent reader, the file contains either the old token
/// or the new one. Any number of storages and processes may use the same directory.
///
/// Links are not followed. The directory and its files must belong to the user of the process. Other users must not be
/// able to write to the directory, to replace one above it, or to read a file.
public struct FileTokenStorage: TokenStorage {
    private let files: TokenFiles

    /// Creates a storage in a directory. The directory is created with mode 0700 when the first token is stored.
    public init(directory: URL) { files = TokenFiles(directory: directory.path) }

    /// Returns the token of a key; nil if none is stored.
    /// - Throws: ``FeathersError`` naming the file if it cannot be read, contains no token, or can be read by other
    ///   users. A token that others may know must not be used: remove the file, or change its mode.
    public func token(for key: String) async throws -> String? { try await files.read(name(of: key)) }
    public func store(_ token: String, for key: String) async throws {
        try await files.replace(name(of: key), with: token)
    }
    public func remove(for key: String) async throws { try await files.remove(name(of: key)) }

    /// Compares and replaces under a lock that other processes respect.
    public func replace(_ expected: String?, with token: String?, for key: String) async throws -> Bool {
        try await files.replace(name(of: key), expecting: expected, with: token)
    }

    /// Waits for a lock that other processes respect. The operating system releases it if this process ends.
    public func exclusively(for key: String, _ body: @Sendable () async -> Void) async throws {
        let lock = try await files.lock("\(name(of: key)).refresh")
        await body()
        lock.unlock()
    }

    /// Returns the file name for a key. Everything except ASCII letters, digits, `-` and `_` is percent-encoded.
    private func name(of key: String) -> String {
        "\(key.addingPercentEncoding(withAllowedCharacters: Self.plainCharacters) ?? key).token"
    }

    private static let plainCharacters = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
}

/// Reads and writes the files of one directory, off the cooperative thread pool.
private actor TokenFiles {
    /// A size greater than any token's, in bytes.
    private static let maximumSize = 1 << 20

    private let directory: String
    /// The locks that refreshes hold, by file name.
    private var locks: [String: DirectoryLock] = [:]
    private let executor = DiskExecutor(label: "feathers.token-files")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(directory: String) { self.directory = directory }

    func read(_ name: String) throws -> String? {
        try attempt("read", name) {
            guard let file = try SafeDirectory.open(directory)?.open(name, isSecret: true) else { return nil }
            let bytes = try file.readAll(atMost: Self.maximumSize)
            guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
                throw FileFailure(file.path, .refused("it contains no token"))
            }
            return text
        }
    }

    func replace(_ name: String, with token: String) throws {
        try locked(name, "written") { try $0.replace(name, with: token) }
    }

    func replace(_ name: String, expecting expected: String?, with token: String?) throws -> Bool {
        try locked(name, "written") { directory in
            guard try read(name) == expected else { return false }
            if let token { try directory.replace(name, with: token) } else { try directory.erase(name) }
            return true
        }
    }

    func remove(_ name: String) throws {
        guard try attempt("removed", name, { try SafeDirectory.open(directory) }) != nil else { return }
        try locked(name, "removed") { try $0.erase(name) }
    }

    /// Runs a change while no other process makes one.
    private func locked<Value>(_ name: String, _ what: String, _ change: (SafeDirectory) throws -> Value) throws
        -> Value
    {
        try attempt(what, name) {
            let directory = try SafeDirectory.make(directory)
            let lock = try directory.lock(".lock", waits: true)
            defer { lock?.unlock() }
            return try change(directory)
        }
    }

    /// Acquires the lock of a file. Another process may hold it for as long as a request takes, so this does not occupy
    /// the actor's thread.
    /// - Throws: ``FeathersError`` if another process holds the lock for a minute.
    func lock(_ name: String) async throws -> OpenFile {
        let lock = locks[name] ?? DirectoryLock(path: directory, name: name)
        locks[name] = lock
        do {
            return try await lock.lock(waitingAtMost: .seconds(60))
        } catch  where !(error is CancellationError) {
            return try attempt("locked", name) { throw error }
        }
    }

    private func attempt<Value>(_ what: String, _ name: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as FeathersError {
            throw error
        } catch {
            throw FeathersError(
                .generalError, "The token file '\(directory)/\(name)' cannot be \(what): \(error)", cause: error)
        }
    }
}

extension SafeDirectory {
    fileprivate func replace(_ name: String, with token: String) throws {
        // A process that was killed may have left a draft.
        try replace(name, with: Array(token.utf8), draft: "\(name).\(UUID().uuidString)")
    }

    fileprivate func erase(_ name: String) throws {
        // Otherwise, a crash could bring the token back.
        if try remove(name) { try synchronize() }
    }
}
