import FeathersCore
import Foundation

/// A small text file that only its owner may read.
struct PrivateFile {
    let path: String

    /// What no token is longer than, in bytes.
    private static let maximumSize = 1 << 20

    /// - Returns: the text; nil where there is no file.
    func read() throws -> String? {
        // A link could lead to a file of somebody else's choosing.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("can not be read")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("can not be read") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure("can not be read", because: "it is no file") }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            throw failure("is not used", because: "its mode \(mode) opens it to others; remove it, or make its mode 600")
        }
        let bytes = try contents(of: file)
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else {
            throw failure("can not be used", because: "it holds no token")
        }
        return text
    }

    private func contents(of file: CInt) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = buffer.withUnsafeMutableBytes { Foundation.read(file, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("can not be read")
            }
            bytes += buffer.prefix(count)
            guard bytes.count <= Self.maximumSize else { throw failure("can not be used", because: "it is too large for a token") }
        }
    }

    /// Puts a new file in the place of the old one, in one step.
    func replace(with text: String) throws {
        let draft = "\(path).\(UUID().uuidString)"
        // Made with its mode, and made anew: it can not be read by others at any moment.
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("can not be written") }
        do {
            defer { close(file) }
            try write(Array(text.utf8), to: file)
            guard flush(file) else { throw failure("can not be written") }
        } catch {
            unlink(draft)
            throw error
        }
        guard rename(draft, path) == 0 else {
            let failure = failure("can not be replaced")
            unlink(draft)
            throw failure
        }
        flushFolder()
    }

    private func write(_ bytes: [UInt8], to file: CInt) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure("can not be written")
            }
            rest = rest.dropFirst(count)
        }
    }

    func remove() throws {
        guard unlink(path) == 0 else {
            if errno == ENOENT { return }
            throw failure("can not be removed")
        }
        flushFolder()
    }

    /// Makes sure that a crash does not bring the old file back.
    private func flushFolder() {
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        defer { close(folder) }
        // Some file systems can not; the file itself has been flushed.
        _ = flush(folder)
    }

    private func flush(_ descriptor: CInt) -> Bool {
        #if canImport(Darwin)
            // There fsync leaves the bytes in the drive's own memory; where this is not known, it is the best there is.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }

    private func failure(_ what: String, because reason: String? = nil) -> FeathersError {
        let reason = reason ?? String(cString: strerror(errno))
        return FeathersError(.generalError, "The token file '\(path)' \(what): \(reason)")
    }
}
