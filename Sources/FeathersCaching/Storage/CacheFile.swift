import FeathersCore
import FeathersSupport
import Foundation

/// The file format of a cached entry.
///
///     "FCACHE3\n" | checksum of all that follows | expiry | length of the body | body
///
/// Numbers are 8 bytes, little-endian. The expiry is a `Double` of seconds since 2001, infinite for never; it precedes
/// the body, so that expired files can be found by their headers. The body is JSON: the value, and the whole key, so
/// that another key's entry is never taken for this one's. A file of another version is treated as corrupted, which is
/// a miss.
enum CacheFile {
    static let headLength = 32
    private static let magic = Array("FCACHE3\n".utf8)

    /// - Throws: An error if the entry contains a number that JSON cannot represent.
    static func bytes(of entry: CacheEntry, for key: CacheKey) throws -> [UInt8] {
        var body: JSONObject = ["key": .string(key.text), "group": .string(key.group), "value": entry.value]
        if let tag = entry.entityTag { body["tag"] = .string(tag) }
        let text = try JSONValue.object(body).serialized()

        let expiry = entry.expiration?.timeIntervalSinceReferenceDate ?? .infinity
        var checked: [UInt8] = []
        checked.reserveCapacity(headLength + text.count)
        checked.append(littleEndian: expiry.bitPattern)
        checked.append(littleEndian: UInt64(text.count))
        checked += text
        var bytes = magic
        bytes.reserveCapacity(headLength + text.count)
        bytes.append(littleEndian: XXH64.hash(of: checked[...]))
        return bytes + checked
    }

    /// The contents of a file.
    enum Content: Equatable {
        /// The entry of the key.
        case entry(CacheEntry)
        /// The entry of another key.
        case otherKey
        /// Anything that this version did not write.
        case corrupted
    }

    static func content(of bytes: [UInt8], for key: CacheKey) -> Content {
        guard let expiry = expiry(inHeadOf: bytes), XXH64.hash(of: bytes[16...]) == bytes.littleEndian(at: 8),
            bytes.littleEndian(at: 24) == UInt64(bytes.count - headLength),
            let body = try? JSONValue(parsing: bytes[headLength...], maximumDepth: 1024).object,
            let value = body["value"],
            let text = body["key"]?.string, let group = body["group"]?.string
        else { return .corrupted }
        guard CacheKey(text: text, group: group) == key else { return .otherKey }
        let expiration = expiry.isFinite ? Date(timeIntervalSinceReferenceDate: expiry) : nil
        return .entry(CacheEntry(value: value, expiration: expiration, entityTag: body["tag"]?.string))
    }

    /// Returns when a file expires, read from its first bytes; nil if they are not a header of this version.
    static func expiry(inHeadOf bytes: [UInt8]) -> Double? {
        guard bytes.count >= headLength, bytes[..<8].elementsEqual(magic) else { return nil }
        return Double(bitPattern: bytes.littleEndian(at: 16))
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }

    fileprivate func littleEndian(at offset: Int) -> UInt64 {
        self[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
