import FeathersCore

/// The parts of a packet in one of the two forms that make up most traffic, found without parsing the JSON in it.
enum ScannedPacket: Equatable {
    /// The name of a service's event, and where its path ends.
    struct Name: Equatable {
        var range: Range<Int>
        var space: Int
    }

    /// A service's event: `2["<path> <event>",<data>]`.
    case event(Name, data: Range<Int>)
    /// The acknowledgement of a successful call: `3<id>[null,<result>]`.
    case result(id: Int, Range<Int>)

    /// The minimum size of a packet whose result is worth keeping as text, in bytes.
    static let minimumText = 256

    /// Returns nil if the packet is anything else.
    init?(_ packet: UnsafeBufferPointer<UInt8>, namespace: String) {
        var cursor = Cursor(bytes: packet)
        guard let type = packet.first, packet.last == UInt8(ascii: "]") else { return nil }
        cursor.index = 1
        guard namespace == SocketPacket.mainNamespace || cursor.skipNamespace(namespace) else { return nil }
        switch type {
        case UInt8(ascii: "2"):
            guard cursor.skip("[\""), let name = cursor.skipName(), cursor.skip("\","), cursor.index < packet.count else { return nil }
            self = .event(name, data: cursor.index..<packet.count - 1)
        case UInt8(ascii: "3"):
            guard let id = cursor.skipNumber(), cursor.skip("[null,"), cursor.index < packet.count else { return nil }
            self = .result(id: id, cursor.index..<packet.count - 1)
        default: return nil
        }
    }

    private struct Cursor {
        let bytes: UnsafeBufferPointer<UInt8>
        var index = 0

        @inline(__always)
        mutating func skip(_ text: StaticString) -> Bool {
            let count = text.utf8CodeUnitCount
            guard bytes.count - index >= count else { return false }
            for offset in 0..<count where bytes[index + offset] != text.utf8Start[offset] { return false }
            index += count
            return true
        }

        mutating func skipNamespace(_ namespace: String) -> Bool {
            let end = index + namespace.utf8.count
            guard end < bytes.count, bytes[index..<end].elementsEqual(namespace.utf8) else { return false }
            index = end
            return skip(",")
        }

        /// Consumes digits. Returns nil if there are none, or too many.
        mutating func skipNumber() -> Int? {
            var (number, position) = (0, index)
            while position < bytes.count, case let digit = Int(bytes[position]) - 0x30, digit >= 0, digit <= 9 {
                let (product, overflows) = number.multipliedReportingOverflow(by: 10)
                let (sum, overflowsToo) = product.addingReportingOverflow(digit)
                if overflows || overflowsToo { return nil }
                (number, position) = (sum, position + 1)
            }
            guard position > index else { return nil }
            index = position
            return number
        }

        /// Consumes the rest of a string without escapes that contains a space between other characters.
        mutating func skipName() -> Name? {
            var (position, space) = (index, index)
            while position < bytes.count, case let byte = bytes[position], byte != UInt8(ascii: "\"") {
                guard byte != UInt8(ascii: "\\"), byte >= 0x20 else { return nil }
                if byte == UInt8(ascii: " ") { space = position }
                position += 1
            }
            guard space > index, space + 1 < position else { return nil }
            defer { index = position }
            return Name(range: index..<position, space: space)
        }
    }
}

/// The names of the services' events that a connection has received, so that their strings are created once.
struct EventNames: Sendable {
    struct Entry: Sendable {
        fileprivate let text: [UInt8]
        let path: String
        let name: EventName

        fileprivate func isNamed(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
            guard text.count == other.count, let other = other.baseAddress else { return false }
            return text.withUnsafeBufferPointer { text in
                text.baseAddress.map { haveEqualBytes($0, other, count: text.count) } ?? false
            }
        }
    }

    /// More names than an app subscribes to. Beyond it, the names are collected again.
    private static let limit = 64
    /// The maximum size in bytes of a name that is remembered. A server could send names of any size.
    private static let longestName = 512

    private var entries: [Entry] = []

    mutating func entry(for name: ScannedPacket.Name, in packet: UnsafeBufferPointer<UInt8>) -> Entry {
        let text = UnsafeBufferPointer(rebasing: packet[name.range])
        for entry in entries where entry.isNamed(text) { return entry }
        let isRemembered = text.count <= Self.longestName
        if isRemembered, entries.count == Self.limit { entries = [] }
        let path = String(decoding: packet[name.range.lowerBound..<name.space], as: UTF8.self)
        let event = String(decoding: packet[name.space + 1..<name.range.upperBound], as: UTF8.self)
        // The path of the root service is `/` on the wire and empty in an app.
        let entry = Entry(
            text: Array(text), path: path == "/" ? "" : path, name: EventName(rawValue: event))
        if isRemembered { entries.append(entry) }
        return entry
    }
}

/// Parses the arguments of an acknowledgement in the form that FeathersJS servers use: `[error]`, or `[null, result]`.
enum AckResult {
    static func read(_ arguments: [JSONValue]) -> Result<JSONValue, any Error> {
        if let error = arguments.first, error.isTruthy { return .failure(FeathersError(wire: error)) }
        return .success(arguments.count > 1 ? arguments[1] : .null)
    }
}

extension JSONValue {
    /// Whether JavaScript considers the value true.
    fileprivate var isTruthy: Bool {
        switch self {
        case .null: false
        case .bool(let bool): bool
        case .integer(let integer): integer != 0
        case .number(let number): number != 0 && !number.isNaN
        case .string(let string): !string.isEmpty
        case .array, .object: true
        }
    }
}
