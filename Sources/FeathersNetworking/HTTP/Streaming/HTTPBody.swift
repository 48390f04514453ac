public import Foundation

/// The body of a request in pieces: bytes, and files that are read while they are sent.
///
/// Its length is known before it is sent, so that the request can say it (`Content-Length`).
public struct HTTPBody: Sendable {
    enum Piece: Sendable {
        case bytes([UInt8])
        case file(URL)
    }

    private(set) var pieces: [Piece] = []

    /// A body of nothing, to append to.
    public init() {}

    /// A body of these bytes.
    public init(_ bytes: [UInt8]) {
        append(bytes)
    }

    /// A file's content.
    public init(file: URL) {
        append(file: file)
    }

    /// Adds bytes at the end.
    public mutating func append(_ bytes: [UInt8]) {
        if !bytes.isEmpty { pieces.append(.bytes(bytes)) }
    }

    /// Adds a file's content at the end.
    public mutating func append(file: URL) {
        pieces.append(.file(file))
    }

    /// Whether nothing has to be read from files.
    package var isInMemory: Bool {
        pieces.allSatisfy { if case .bytes = $0 { true } else { false } }
    }

    /// The whole body in memory, for what is small and for clients that cannot stream.
    /// - Throws: ``HTTPClientError/Kind/unreadableFile`` naming the file.
    package func bytes() throws -> [UInt8] {
        let reader = try HTTPBodyReader(self)
        let count = Int(reader.count)
        // An array without capacity is one that all share, where even a count of 0 must not be written.
        guard count > 0 else { return [] }
        return try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                filled += try reader.read(into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...]))
            }
        }
    }
}
