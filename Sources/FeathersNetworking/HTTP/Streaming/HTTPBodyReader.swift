import Foundation

/// Reads a body from its beginning to its end, one file open at a time.
///
/// Not `Sendable`: whoever sends the body makes and uses it.
final class HTTPBodyReader {
    private struct Part {
        let piece: HTTPBody.Piece
        let count: Int64
    }

    /// How many bytes the body has.
    let count: Int64
    private let parts: [Part]
    private var current = 0
    /// How much of the current part was read.
    private var offset: Int64 = 0
    private var descriptor: Int32 = -1

    /// - Throws: ``HTTPClientError/Kind/unreadableFile`` where a file is missing, unreadable or no regular one.
    init(_ body: HTTPBody) throws(HTTPClientError) {
        var parts: [Part] = []
        for piece in body.pieces {
            switch piece {
            case .bytes(let bytes): parts.append(Part(piece: piece, count: Int64(bytes.count)))
            case .file(let url): parts.append(Part(piece: piece, count: try Self.size(of: url)))
            }
        }
        self.parts = parts
        count = parts.reduce(0) { $0 + $1.count }
    }

    deinit {
        closeFile()
    }

    /// Fills as much of the buffer as the body has left; 0 at its end.
    /// - Throws: ``HTTPClientError/Kind/unreadableFile`` where a file cannot be read, or has become shorter than it was.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(HTTPClientError) -> Int {
        while current < parts.count {
            let part = parts[current]
            guard offset < part.count else {
                closeFile()
                current += 1
                offset = 0
                continue
            }
            let wanted = Int(min(Int64(buffer.count), part.count - offset))
            let read: Int
            switch part.piece {
            case .bytes(let bytes):
                bytes.withUnsafeBytes { source in
                    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[Int(offset)..<(Int(offset) + wanted)]))
                }
                read = wanted
            case .file(let url): read = try readFile(url, wanted, into: buffer)
            }
            offset += Int64(read)
            return read
        }
        return 0
    }

    /// Starts over.
    func rewind() {
        closeFile()
        current = 0
        offset = 0
    }

    private func readFile(_ url: URL, _ wanted: Int, into buffer: UnsafeMutableRawBufferPointer) throws(HTTPClientError) -> Int {
        if descriptor < 0 {
            descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.unreadable(url, "cannot be opened") }
        }
        var result: Int
        repeat { result = Foundation.read(descriptor, buffer.baseAddress, wanted) } while result < 0 && errno == EINTR
        guard result >= 0 else { throw Self.unreadable(url, "cannot be read") }
        guard result > 0 else { throw Self.unreadable(url, "became shorter while it was sent") }
        return result
    }

    private func closeFile() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    private static func size(of url: URL) throws(HTTPClientError) -> Int64 {
        guard url.isFileURL else { throw unreadable(url, "is no file URL") }
        var status = stat()
        guard stat(url.path, &status) == 0 else { throw unreadable(url, "does not exist or may not be read") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw unreadable(url, "is no regular file") }
        guard access(url.path, R_OK) == 0 else { throw unreadable(url, "may not be read") }
        return Int64(status.st_size)
    }

    private static func unreadable(_ url: URL, _ why: String) -> HTTPClientError {
        HTTPClientError(.unreadableFile, "The file '\(url.lastPathComponent)' \(why)")
    }
}
