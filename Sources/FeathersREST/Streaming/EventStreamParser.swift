import Foundation

/// Reads an event stream by the rules of the HTML standard (section 9.2.6), piece by piece. Without I/O.
///
/// Pieces may begin and end anywhere, even within a character or between CR and LF. The bytes are split at ASCII
/// characters only, so malformed UTF-8 affects nothing but the field that contains it.
package struct EventStreamParser: Sendable {
    /// The limits on what a stream can make the parser buffer, in bytes.
    package struct Limits: Sendable, Hashable {
        package var line: Int
        package var event: Int

        package init(line: Int, event: Int) { (self.line, self.event) = (line, event) }
    }

    /// A stream exceeded a limit. It cannot be read any further.
    package enum Overflow: Error, Hashable, CustomStringConvertible {
        case line(limit: Int)
        case event(limit: Int)

        package var description: String {
            switch self {
            case .line(let limit): "A line of the event stream has more than \(limit) bytes"
            case .event(let limit): "An event of the event stream has more than \(limit) bytes"
            }
        }
    }

    private enum Start { case nothing, mark(Int), over }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The ID that a new connection sends as `Last-Event-ID`; empty if the stream has set none.
    package private(set) var lastEventID = ""
    /// The delay before reconnecting that the stream has set.
    package private(set) var retry: Duration?

    private let limits: Limits
    /// The number of bytes of the byte order mark read so far.
    private var start = Start.nothing
    private var skipsLineFeed = false
    /// The beginning of a line whose end has not arrived.
    private var partialLine: [UInt8] = []
    private var idBuffer = ""
    private var name = ""
    /// The data of an event that is not in one line of one piece; empty otherwise.
    private var data: [UInt8] = []
    private var hasData = false

    /// - Parameter lastEventID: The ID that an earlier stream has set.
    package init(limits: Limits, lastEventID: String = "") {
        self.limits = limits
        (self.lastEventID, idBuffer) = (lastEventID, lastEventID)
    }

    /// Reads the next piece of the stream, and passes every event that it completes to `receive`: data, name, and ID.
    ///
    /// The data is valid only during the call. In most streams, it is a single line, which is passed without a copy.
    package mutating func readInPlace(
        _ piece: UnsafeRawBufferPointer, _ receive: (UnsafeBufferPointer<UInt8>, String, String) throws -> Void
    ) throws {
        guard let piece = withoutByteOrderMark(piece) else { return }
        var lines = LineEnds(piece)
        // The only line of an event's data so far, if it is in this piece.
        var line: UnsafeRawBufferPointer?
        defer { keep(&line) }
        var index = 0
        while index < piece.count {
            if skipsLineFeed {
                skipsLineFeed = false
                if piece[index] == UInt8(ascii: "\n") {
                    index += 1
                    continue
                }
            }
            let end = lines.next(from: index)
            let next = UnsafeRawBufferPointer(rebasing: piece[index..<(end ?? piece.count)])
            guard partialLine.count + next.count <= limits.line else { throw Overflow.line(limit: limits.line) }
            guard let end else { return partialLine.append(contentsOf: next) }
            skipsLineFeed = piece[end] == UInt8(ascii: "\r")
            index = end + 1
            if partialLine.isEmpty {
                try readLine(next, &line, receive)
            } else {
                var whole: [UInt8] = []
                swap(&whole, &partialLine)
                whole.append(contentsOf: next)
                try whole.withUnsafeBytes {
                    try readLine($0, &line, receive)
                    keep(&line)
                }
            }
        }
    }

    /// Drops a byte order mark at the start of the stream, which may arrive in several pieces.
    /// - Returns: Nil while it is unknown whether there is one.
    private mutating func withoutByteOrderMark(_ piece: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let found: Int
        switch start {
        case .over: return piece
        case .nothing: found = 0
        case .mark(let count): found = count
        }
        var index = 0
        while index < piece.count, found + index < 3, piece[index] == Self.byteOrderMark[found + index] { index += 1 }
        if found + index == 3 {
            start = .over
            return UnsafeRawBufferPointer(rebasing: piece[index...])
        }
        if index == piece.count {
            start = .mark(found + index)
            return nil
        }
        start = .over
        // What looked like the beginning of a mark was the beginning of a line.
        partialLine = Array(Self.byteOrderMark[..<found])
        return piece
    }

    /// - Parameter data: The only line of the event's data so far, if it is in the current piece.
    private mutating func readLine(
        _ line: UnsafeRawBufferPointer, _ data: inout UnsafeRawBufferPointer?,
        _ receive: (UnsafeBufferPointer<UInt8>, String, String) throws -> Void
    ) throws {
        guard let first = line.first else { return try dispatch(&data, receive) }
        // Comments are often sent to keep a connection alive.
        if first == UInt8(ascii: ":") { return }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        let field = UnsafeRawBufferPointer(rebasing: line[..<(colon ?? line.count)])
        var value = UnsafeRawBufferPointer(rebasing: line[(colon.map { $0 + 1 } ?? line.count)...])
        if value.first == UInt8(ascii: " ") { value = UnsafeRawBufferPointer(rebasing: value.dropFirst()) }
        switch field.count {
        case 4 where Self.isName(field, "data"):
            guard self.data.count + (data?.count ?? 0) + value.count < limits.event else {
                throw Overflow.event(limit: limits.event)
            }
            guard hasData else {
                (hasData, data) = (true, value)
                return
            }
            keep(&data)
            self.data.append(UInt8(ascii: "\n"))
            self.data.append(contentsOf: value)
        case 5 where Self.isName(field, "event"): name = String(decoding: value, as: UTF8.self)
        case 2 where Self.isName(field, "id"):
            // A header field cannot send back control characters. The standard ignores IDs with NUL for that reason.
            let isSendable =
                value.count <= Self.longestID && value.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            if isSendable { idBuffer = String(decoding: value, as: UTF8.self) }
        case 5 where Self.isName(field, "retry"):
            guard !value.isEmpty, value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
                return
            }
            // A number too large for any clock counts as the longest delay.
            retry = .milliseconds(
                Int64(String(decoding: value, as: UTF8.self)).map { min($0, Self.longestRetry) } ?? Self.longestRetry)
        default: return
        }
    }

    /// Compares a field with a name of the same length.
    private static func isName(_ field: UnsafeRawBufferPointer, _ name: StaticString) -> Bool {
        field.baseAddress.map { memcmp($0, name.utf8Start, field.count) == 0 } ?? false
    }

    /// The longest ID that is sent back, in bytes.
    private static let longestID = 4096
    /// A day, in milliseconds.
    private static let longestRetry: Int64 = 24 * 3600 * 1000

    /// Copies the only line of an event's data before its memory becomes invalid.
    private mutating func keep(_ line: inout UnsafeRawBufferPointer?) {
        guard let only = line else { return }
        data.append(contentsOf: only)
        line = nil
    }

    private mutating func dispatch(
        _ line: inout UnsafeRawBufferPointer?, _ receive: (UnsafeBufferPointer<UInt8>, String, String) throws -> Void
    ) throws {
        lastEventID = idBuffer
        defer { (name, hasData) = ("", false) }
        guard hasData else { return }
        if let only = line {
            line = nil
            return try only.withMemoryRebound(to: UInt8.self) { try receive($0, name, lastEventID) }
        }
        var whole: [UInt8] = []
        swap(&whole, &data)
        try whole.withUnsafeBufferPointer { try receive($0, name, lastEventID) }
    }
}

/// Finds the ends of lines in a piece. Each kind is searched for only once per occurrence, so that the cost does not
/// depend on their mixture.
private struct LineEnds {
    private let bytes: UnsafeRawBufferPointer
    /// The next line feed and carriage return at or after the position; the size of the piece if there is none.
    private var feed = -1
    private var carriageReturn = -1

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func next(from index: Int) -> Int? {
        if feed < index { feed = find(UInt8(ascii: "\n"), from: index) }
        if carriageReturn < index { carriageReturn = find(UInt8(ascii: "\r"), from: index) }
        let end = min(feed, carriageReturn)
        return end < bytes.count ? end : nil
    }

    private func find(_ byte: UInt8, from index: Int) -> Int {
        guard let base = bytes.baseAddress, let found = memchr(base + index, Int32(byte), bytes.count - index) else {
            return bytes.count
        }
        return base.distance(to: UnsafeRawPointer(found))
    }
}
