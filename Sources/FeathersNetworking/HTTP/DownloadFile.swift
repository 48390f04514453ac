import FeathersSupport
import Foundation

/// A file that is being downloaded. It is written next to its destination, and moved there when complete or removed
/// otherwise. The receiving thread writes; the caller can commit or discard at any time.
final class DownloadFile: Sendable {
    private enum Phase: Sendable {
        case open(Int32)
        case ended
    }

    private let destination: URL
    private let temporary: String
    private let phase: Locked<Phase>

    /// - Throws: ``HTTPClientError/Kind/unwritableFile`` if no file can be created in the destination's folder.
    init(_ destination: URL) throws(HTTPClientError) {
        guard destination.isFileURL else { throw Self.unwritable(destination, "does not have a file URL", .neverSent) }
        self.destination = destination
        // In the same folder, because a move is atomic only within one file system.
        temporary = destination.deletingLastPathComponent().appending(path: ".feathers-\(UUID().uuidString).part").path
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw Self.unwritable(destination, "cannot be written: \(String(cString: strerror(errno)))", .neverSent)
        }
        phase = Locked(.open(descriptor))
    }

    deinit { discard() }

    /// Appends bytes. A no-op after ``discard()``.
    func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPClientError) {
        // Contended only by a cancellation, which must not close the file during a write.
        let failure: Int32? = phase.withLock { phase in
            guard case .open(let descriptor) = phase else { return nil }
            return Self.write(bytes, to: descriptor)
        }
        if let failure {
            throw Self.unwritable(destination, "cannot be written: \(String(cString: strerror(failure)))")
        }
    }

    func commit() throws(HTTPClientError) {
        guard let descriptor = end() else { return }
        guard close(descriptor) == 0, rename(temporary, destination.path) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(temporary)
            throw Self.unwritable(destination, "cannot be moved to its destination: \(reason)")
        }
    }

    /// Removes the file, unless it was committed.
    func discard() {
        guard let descriptor = end() else { return }
        close(descriptor)
        unlink(temporary)
    }

    private func end() -> Int32? {
        phase.withLock { phase in
            guard case .open(let descriptor) = phase else { return nil }
            phase = .ended
            return descriptor
        }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
        var rest = bytes
        while !rest.isEmpty {
            let written = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written >= 0 else { return errno }
            rest = UnsafeRawBufferPointer(rebasing: rest[written...])
        }
        return nil
    }

    private static func unwritable(_ url: URL, _ why: String, _ delivery: HTTPClientError.Delivery? = nil)
        -> HTTPClientError
    {
        HTTPClientError(.unwritableFile, "The file '\(url.lastPathComponent)' \(why)", delivery: delivery)
    }
}
