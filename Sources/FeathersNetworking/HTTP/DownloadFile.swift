import FeathersSupport
import Foundation

/// A file that is being downloaded: written beside its destination, moved there when complete, removed otherwise. The receiving thread
/// writes; the caller commits or discards, at any moment.
final class DownloadFile: Sendable {
    private enum Phase: Sendable {
        case open(Int32)
        case ended
    }

    private let destination: URL
    private let temporary: String
    private let phase: Locked<Phase>

    /// - Throws: ``HTTPClientError/Kind/unwritableFile`` where no file can be made in the destination's folder.
    init(_ destination: URL) throws(HTTPClientError) {
        guard destination.isFileURL else { throw Self.unwritable(destination, "is no file URL", .neverSent) }
        self.destination = destination
        // In the same folder, as moving is atomic only within one file system.
        temporary = destination.deletingLastPathComponent().appending(path: ".feathers-\(UUID().uuidString).part").path
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            throw Self.unwritable(destination, "cannot be written: \(String(cString: strerror(errno)))", .neverSent)
        }
        phase = Locked(.open(descriptor))
    }

    deinit { discard() }

    /// Appends bytes; does nothing once discarded.
    func write(_ bytes: UnsafeRawBufferPointer) throws(HTTPClientError) {
        // Contended only by a cancellation, which must not close the file during a write.
        let failure: Int32? = phase.withLock { phase in
            guard case .open(let descriptor) = phase else { return nil }
            return Self.write(bytes, to: descriptor)
        }
        if let failure { throw Self.unwritable(destination, "cannot be written: \(String(cString: strerror(failure)))") }
    }

    func commit() throws(HTTPClientError) {
        guard let descriptor = end() else { return }
        guard close(descriptor) == 0, rename(temporary, destination.path) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(temporary)
            throw Self.unwritable(destination, "cannot be moved to its place: \(reason)")
        }
    }

    /// Removes what was written, unless it was committed.
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

    private static func unwritable(_ url: URL, _ why: String, _ delivery: HTTPClientError.Delivery? = nil) -> HTTPClientError {
        HTTPClientError(.unwritableFile, "The file '\(url.lastPathComponent)' \(why)", delivery: delivery)
    }
}
