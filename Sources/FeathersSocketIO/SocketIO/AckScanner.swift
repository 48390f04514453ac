import FeathersCore

/// Finds the result in the acknowledgement of a successful call, `3<id>[null,<result>]`, without parsing it.
struct AckScanner {
    /// The minimum size of a packet worth scanning, in bytes. Smaller ones are parsed like any other packet.
    static let minimumSize = 256

    let id: Int
    private let packet: String
    private let result: Range<Int>

    /// Returns nil if the packet is anything else, or is small.
    init?(in packet: String, namespace: String) {
        guard packet.utf8.count >= Self.minimumSize else { return nil }
        var packet = packet
        let found: (id: Int, result: Range<Int>)? = packet.withUTF8 { bytes in
            var cursor = bytes[...]
            guard cursor.skip("3"), namespace == SocketPacket.mainNamespace || cursor.skip(namespace) && cursor.skip(","),
                let id = cursor.skipNumber(), cursor.skip("[null,"), cursor.last == UInt8(ascii: "]")
            else { return nil }
            return (id, cursor.startIndex..<cursor.endIndex - 1)
        }
        guard let found else { return nil }
        (id, result) = found
        self.packet = packet
    }

    /// Returns the result, validated and marked, or nil if it isn't JSON or a tree is more efficient.
    func marked() -> JSONTape? {
        var packet = packet
        return packet.withUTF8 { bytes in try? JSONTape.marking(UnsafeBufferPointer(rebasing: bytes[result])) }
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

extension Slice<UnsafeBufferPointer<UInt8>> {
    fileprivate mutating func skip(_ text: String) -> Bool {
        guard starts(with: text.utf8) else { return false }
        self = dropFirst(text.utf8.count)
        return true
    }

    /// Consumes the leading digits. Returns nil if there are none, or too many.
    fileprivate mutating func skipNumber() -> Int? {
        let digits = prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        self = dropFirst(digits.count)
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
