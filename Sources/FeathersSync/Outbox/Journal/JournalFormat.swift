import FeathersSupport

/// The binary format of a journal.
///
///     "FOUTBOX" | version, 1 byte | checksum of these 8 bytes
///     length of the payload | checksum of the length | checksum of the payload | payload      … repeated
///
/// Lengths and checksums are 4 bytes, little-endian. The length has its own checksum, so that a damaged one is not
/// taken for a truncated record.
enum JournalFormat {
    static let version: UInt8 = 1
    static let headerLength = 12
    private static let recordHeaderLength = 12
    private static let magic = Array("FOUTBOX".utf8)

    static let header: [UInt8] = {
        let start = magic + [version]
        return start + littleEndian(XXH64.checksum(of: start))
    }()

    /// Returns a payload with its header; nil if the payload is too long.
    static func record(_ payload: [UInt8]) -> [UInt8]? {
        guard let count = UInt32(exactly: payload.count) else { return nil }
        let length = littleEndian(count)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(recordHeaderLength + payload.count)
        bytes += length
        bytes += littleEndian(XXH64.checksum(of: length))
        bytes += littleEndian(XXH64.checksum(of: payload))
        return bytes + payload
    }

    /// The contents of a file.
    struct Contents: Equatable {
        struct Record: Equatable {
            let offset: Int
            /// A slice that shares memory with the file's bytes.
            let payload: ArraySlice<UInt8>

            /// The number of bytes that the record takes in the file.
            var size: Int { recordHeaderLength + payload.count }
        }

        var records: [Record] = []
        /// The number of complete bytes, including the header. Anything after them was truncated.
        var length = 0
    }

    /// Why a file cannot be read.
    enum Failure: Error, Equatable {
        case foreign
        case otherVersion(UInt8)
        case damaged(offset: Int)
    }

    /// Reads a file up to a truncated end: the beginning of a record, or the zeros that a file system leaves if it had
    /// no time to write.
    static func contents(of bytes: [UInt8]) throws(Failure) -> Contents {
        guard try readHeader(bytes) else { return Contents() }
        var contents = Contents(length: headerLength)
        while contents.length < bytes.count {
            let offset = contents.length
            let rest = bytes[offset...]
            guard rest.count >= recordHeaderLength else { return contents }
            let length = rest.prefix(4)
            guard XXH64.checksum(of: length) == number(in: bytes, at: offset + 4) else {
                if rest.allSatisfy({ $0 == 0 }) { return contents }
                throw .damaged(offset: offset)
            }
            let payload = rest.dropFirst(recordHeaderLength).prefix(Int(clamping: number(in: bytes, at: offset)))
            guard payload.count == number(in: bytes, at: offset) else { return contents }
            guard XXH64.checksum(of: payload) == number(in: bytes, at: offset + 8) else {
                throw .damaged(offset: offset)
            }
            contents.records.append(Contents.Record(offset: offset, payload: payload))
            contents.length += recordHeaderLength + payload.count
        }
        return contents
    }

    /// - Returns: Whether there is a header; false if the file was truncated within it.
    private static func readHeader(_ bytes: [UInt8]) throws(Failure) -> Bool {
        guard bytes.count >= headerLength else {
            if header.starts(with: bytes) || bytes.allSatisfy({ $0 == 0 }) { return false }
            throw .foreign
        }
        guard bytes.starts(with: magic) else { throw .foreign }
        guard XXH64.checksum(of: bytes[..<8]) == number(in: bytes, at: 8) else { throw .damaged(offset: 0) }
        guard bytes[7] == version else { throw .otherVersion(bytes[7]) }
        return true
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func number(in bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }
}
