import FeathersSupport
package import Foundation

/// A request body made of bytes, of files that are read while being sent, and of streams that are produced while being
/// sent. Without streams, its length is known in advance (`Content-Length`).
package struct HTTPBody: Sendable {
    enum Piece: Sendable {
        case bytes([UInt8])
        case file(URL)
        case stream(HTTPBodySource)
    }

    private(set) var pieces: [Piece] = []

    package init() {}
    package init(_ bytes: [UInt8]) { append(bytes) }
    package init(file: URL) { append(file: file) }
    package init(stream: HTTPBodySource) { pieces = [.stream(stream)] }

    package mutating func append(_ bytes: [UInt8]) { if !bytes.isEmpty { pieces.append(.bytes(bytes)) } }
    package mutating func append(file: URL) { pieces.append(.file(file)) }
    package mutating func append(_ body: HTTPBody) { pieces += body.pieces }

    package var isInMemory: Bool { pieces.allSatisfy { if case .bytes = $0 { true } else { false } } }

    var streams: [HTTPBodySource] { pieces.compactMap { if case .stream(let source) = $0 { source } else { nil } } }

    /// Returns the whole body in memory, for small bodies and for clients that cannot stream.
    /// - Throws: ``HTTPClientError/Kind/unreadableFile``, naming the file; the errors of streams.
    package func bytes() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        if isInMemory {
            for case .bytes(let piece) in pieces { bytes += piece }
            return bytes
        }
        return try await feeding { body in
            let reader = try HTTPBodyReader(body)
            bytes.reserveCapacity(Int(reader.count ?? 0))
            try await reader.forEach { bytes.append(contentsOf: $0) }
            return bytes
        }
    }

    /// Runs an exchange that reads this body, and the producers of the body's streams at the same time.
    /// - Parameter exchange: Sends the body that it receives: a copy of this one for a single attempt, with buffers of
    ///   its own for the streams.
    /// - Throws: The error of a stream that failed; otherwise that of the exchange.
    func feeding<Result>(_ exchange: (HTTPBody) async throws -> Result) async throws -> Result {
        var attempt = self
        attempt.pieces = pieces.map { if case .stream(let source) = $0 { .stream(source.attempt()) } else { $0 } }
        let streams = attempt.streams
        guard !streams.isEmpty else { return try await exchange(self) }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for stream in streams { group.addTask { await stream.run() } }
            defer { group.cancelAll() }
            do {
                return try await exchange(attempt)
            } catch let error as HTTPClientError {
                throw streams.lazy.compactMap(\.failure).first ?? error
            }
        }
    }
}

/// Reads a body from start to end, with one file open at a time. Not `Sendable`: the sending thread creates and uses
/// it.
final class HTTPBodyReader {
    private struct Part {
        let piece: HTTPBody.Piece
        /// Nil for a stream.
        let count: Int64?
    }

    /// The number of bytes of the whole body; nil if it contains a stream.
    let count: Int64?
    private let parts: [Part]
    private var current = 0
    /// The number of bytes of the current part read so far.
    private var offset: Int64 = 0
    private var descriptor: Int32 = -1

    /// - Throws: ``HTTPClientError/Kind/unreadableFile`` if a file is missing, unreadable, or not a regular file;
    ///   ``HTTPClientError/Kind/other`` if a stream has been read before, or is in the body twice.
    init(_ body: HTTPBody) throws(HTTPClientError) {
        var parts: [Part] = []
        for piece in body.pieces {
            switch piece {
            case .bytes(let bytes): parts.append(Part(piece: piece, count: Int64(bytes.count)))
            case .file(let url): parts.append(Part(piece: piece, count: try Self.size(of: url)))
            case .stream(let source):
                let isRepeated = parts.contains {
                    if case .stream(let other) = $0.piece { other.isSameStream(as: source) } else { false }
                }
                guard !source.hasBegun, !isRepeated else { throw HTTPBodySource.readBefore }
                parts.append(Part(piece: piece, count: nil))
            }
        }
        self.parts = parts
        count = parts.reduce(0) { sum, part in part.count.flatMap { count in sum.map { $0 + count } } }
    }

    deinit { closeFile() }

    /// Fills the buffer with the next bytes of the body.
    /// - Parameter resume: Called when bytes become available after this method returned nil, at most once and on any
    ///   thread.
    /// - Returns: The number of bytes, 0 at the end, or nil if a stream has none yet.
    /// - Throws: ``HTTPClientError/Kind/unreadableFile`` if a file cannot be read, or has become shorter;
    ///   ``HTTPClientError/Kind/other`` if a stream failed.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, resume: @escaping @Sendable () -> Void
    ) throws(HTTPClientError) -> Int? {
        while current < parts.count {
            let part = parts[current]
            if case .stream(let source) = part.piece {
                let read = try source.read(into: buffer, resume: resume)
                if read != 0 { return read }
            }
            guard let count = part.count, offset < count else {
                closeFile()
                current += 1
                offset = 0
                continue
            }
            let wanted = Int(min(Int64(buffer.count), count - offset))
            let read: Int
            switch part.piece {
            case .bytes(let bytes):
                bytes.withUnsafeBytes { source in
                    buffer.copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: source[Int(offset)..<(Int(offset) + wanted)]))
                }
                read = wanted
            case .file(let url): read = try readFile(url, wanted, into: buffer)
            case .stream: continue
            }
            offset += Int64(read)
            return read
        }
        return 0
    }

    /// Passes the rest of the body to `take`, for clients that cannot send it piece by piece.
    func forEach(_ take: (UnsafeRawBufferPointer) throws -> Void) async throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let arrival = Promise<Void>()
            switch try read(into: buffer, resume: { arrival.resolve(()) }) {
            case 0: return
            case nil: try await arrival.value()
            case let count?: try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }

    /// Starts again from the beginning.
    /// - Returns: Whether that is possible. A stream that has been read cannot be read again.
    func rewind() -> Bool {
        guard !parts.contains(where: { if case .stream(let source) = $0.piece { source.hasBegun } else { false } })
        else { return false }
        closeFile()
        current = 0
        offset = 0
        return true
    }

    private func readFile(_ url: URL, _ wanted: Int, into buffer: UnsafeMutableRawBufferPointer) throws(HTTPClientError)
        -> Int
    {
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
        guard mode_t(status.st_mode) & S_IFMT == S_IFREG else { throw unreadable(url, "isn't a regular file") }
        guard access(url.path, R_OK) == 0 else { throw unreadable(url, "isn't readable") }
        return Int64(status.st_size)
    }

    private static func unreadable(_ url: URL, _ why: String) -> HTTPClientError {
        HTTPClientError(.unreadableFile, "The file '\(url.lastPathComponent)' \(why)")
    }
}

/// A streaming body as a single file, for clients that can upload only files. If the body is one file, it is used
/// directly; otherwise, a temporary file is created, and removed when this object is deallocated. Create it from the
/// body of ``HTTPBody/feeding(_:)``.
final class BodyFile: Sendable {
    let url: URL
    let count: Int64
    private let isTemporary: Bool

    /// - Throws: ``HTTPClientError/Kind/unreadableFile`` and ``HTTPClientError/Kind/unwritableFile``; the errors of
    ///   streams.
    init(_ body: HTTPBody) async throws {
        let reader = try HTTPBodyReader(body)
        if body.pieces.count == 1, case .file(let file) = body.pieces[0] {
            (url, isTemporary, count) = (file, false, reader.count ?? 0)
            return
        }
        let url = FileManager.default.temporaryDirectory.appending(path: "feathers-\(UUID().uuidString)")
        let file = try DownloadFile(url)
        var count: Int64 = 0
        try await reader.forEach { piece in
            try file.write(piece)
            count += Int64(piece.count)
        }
        try file.commit()
        (self.url, isTemporary, self.count) = (url, true, count)
    }

    deinit { if isTemporary { unlink(url.path) } }
}
