package import Foundation

/// A request body made of bytes and of files that are read while being sent. Its length is known in advance (`Content-Length`).
package struct HTTPBody: Sendable {
    enum Piece: Sendable {
        case bytes([UInt8])
        case file(URL)
    }

    private(set) var pieces: [Piece] = []

    package init() {}
    package init(_ bytes: [UInt8]) { append(bytes) }
    package init(file: URL) { append(file: file) }

    package mutating func append(_ bytes: [UInt8]) { if !bytes.isEmpty { pieces.append(.bytes(bytes)) } }
    package mutating func append(file: URL) { pieces.append(.file(file)) }

    package var isInMemory: Bool { pieces.allSatisfy { if case .bytes = $0 { true } else { false } } }

    /// Returns the whole body in memory, for small bodies and for clients that cannot stream.
    /// - Throws: ``HTTPClientError/Kind/unreadableFile``, naming the file.
    package func bytes() throws -> [UInt8] {
        let reader = try HTTPBodyReader(self)
        let count = Int(reader.count)
        // Empty arrays without capacity share one static buffer, which must not be written, not even a count of 0.
        guard count > 0 else { return [] }
        return try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                filled += try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...]))
            }
        }
    }
}

/// Reads a body from start to end, with one file open at a time. Not `Sendable`: the sending thread creates and uses it.
final class HTTPBodyReader {
    private struct Part {
        let piece: HTTPBody.Piece
        let count: Int64
    }

    let count: Int64
    private let parts: [Part]
    private var current = 0
    /// The number of bytes of the current part read so far.
    private var offset: Int64 = 0
    private var descriptor: Int32 = -1

    /// - Throws: ``HTTPClientError/Kind/unreadableFile`` if a file is missing, unreadable, or not a regular file.
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

    deinit { closeFile() }

    /// Fills the buffer with as much of the body as remains. Returns 0 at the end.
    /// - Throws: ``HTTPClientError/Kind/unreadableFile`` if a file cannot be read, or has become shorter.
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
        guard result > 0 else { throw Self.unreadable(url, "became shorter while it was being sent") }
        return result
    }

    private func closeFile() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    private static func size(of url: URL) throws(HTTPClientError) -> Int64 {
        guard url.isFileURL else { throw unreadable(url, "does not have a file URL") }
        var status = stat()
        guard stat(url.path, &status) == 0 else { throw unreadable(url, "does not exist or cannot be accessed") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw unreadable(url, "isn't a regular file") }
        guard access(url.path, R_OK) == 0 else { throw unreadable(url, "isn't readable") }
        return Int64(status.st_size)
    }

    private static func unreadable(_ url: URL, _ why: String) -> HTTPClientError {
        HTTPClientError(.unreadableFile, "The file '\(url.lastPathComponent)' \(why)")
    }
}

/// A streaming body as a single file, for clients that can upload only files. If the body is one file, it is used directly; otherwise, a temporary
/// file is created, and removed when this object is deallocated.
final class BodyFile: Sendable {
    let url: URL
    let count: Int64
    private let isTemporary: Bool

    /// - Throws: ``HTTPClientError/Kind/unreadableFile`` and ``HTTPClientError/Kind/unwritableFile``.
    init(_ body: HTTPBody) throws(HTTPClientError) {
        let reader = try HTTPBodyReader(body)
        count = reader.count
        if body.pieces.count == 1, case .file(let file) = body.pieces[0] {
            url = file
            isTemporary = false
            return
        }
        url = FileManager.default.temporaryDirectory.appending(path: "feathers-\(UUID().uuidString)")
        isTemporary = true
        let file = try DownloadFile(url)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
        defer { buffer.deallocate() }
        while case let read = try reader.read(into: buffer), read > 0 { try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<read])) }
        try file.commit()
    }

    deinit { if isTemporary { unlink(url.path) } }
}
