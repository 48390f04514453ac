import FeathersCore

/// Reads the text of one packet: `<type>[<attachments>-][<namespace>,][<id>][<JSON>]`.
struct SocketPacketParser {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var cursor = 0
    private let maximumAttachments: Int

    /// - Parameter maximumAttachments: how many attachments a packet may announce.
    static func parse(
        _ text: String, maximumAttachments: Int = .max
    ) throws(SocketPacketError) -> (packet: SocketPacket, attachments: Int) {
        var text = text
        let result = text.withUTF8 { bytes in
            var parser = SocketPacketParser(bytes: bytes, maximumAttachments: maximumAttachments)
            do throws(SocketPacketError) {
                return Result<_, SocketPacketError>.success(try parser.parse())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private init(bytes: UnsafeBufferPointer<UInt8>, maximumAttachments: Int) {
        self.bytes = bytes
        self.maximumAttachments = maximumAttachments
    }

    private mutating func parse() throws(SocketPacketError) -> (packet: SocketPacket, attachments: Int) {
        guard let first = bytes.first else { throw SocketPacketError(.empty) }
        guard first >= UInt8(ascii: "0"), let kind = SocketPacket.Kind(rawValue: first - UInt8(ascii: "0")) else {
            throw SocketPacketError(.unknownType(first))
        }
        cursor = 1
        let attachments = kind.isBinary ? try attachmentCount() : 0
        var packet = SocketPacket(kind, namespace: namespace())
        packet.id = try id()
        let payloadStart = cursor
        if cursor < bytes.count {
            do {
                packet.data = try JSONValue(parsing: UnsafeBufferPointer(rebasing: bytes[cursor...]))
            } catch {
                throw SocketPacketError(.invalidJSON(error.reason), at: cursor + error.offset)
            }
        }
        if let fault = packet.payloadFault { throw SocketPacketError(fault, at: payloadStart) }
        return (packet, attachments)
    }

    private mutating func attachmentCount() throws(SocketPacketError) -> Int {
        let start = cursor
        guard let count = digits() else { throw SocketPacketError(.tooManyAttachments(limit: maximumAttachments), at: start) }
        guard cursor > start, cursor < bytes.count, bytes[cursor] == UInt8(ascii: "-") else {
            throw SocketPacketError(.illegalAttachmentCount, at: start)
        }
        guard count <= maximumAttachments else {
            throw SocketPacketError(.tooManyAttachments(limit: maximumAttachments), at: start)
        }
        cursor += 1
        return count
    }

    /// What stands between `/` and `,`; without a comma all that is left.
    private mutating func namespace() -> String {
        guard cursor < bytes.count, bytes[cursor] == UInt8(ascii: "/") else { return SocketPacket.mainNamespace }
        let end = bytes[cursor...].firstIndex(of: UInt8(ascii: ",")) ?? bytes.count
        defer { cursor = min(end + 1, bytes.count) }
        return String(decoding: bytes[cursor..<end], as: UTF8.self)
    }

    private mutating func id() throws(SocketPacketError) -> Int? {
        let start = cursor
        guard let id = digits() else { throw SocketPacketError(.illegalID, at: start) }
        return cursor > start ? id : nil
    }

    /// The number that stands here, 0 where none does; nil for one that no `Int` holds.
    private mutating func digits() -> Int? {
        var number = 0
        while cursor < bytes.count, bytes[cursor] >= UInt8(ascii: "0"), bytes[cursor] <= UInt8(ascii: "9") {
            let (product, overflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = product.addingReportingOverflow(Int(bytes[cursor] - UInt8(ascii: "0")))
            if overflows || overflowsToo { return nil }
            number = sum
            cursor += 1
        }
        return number
    }
}

extension SocketPacket {
    /// What is wrong with the payload, by the rules of socket.io-parser; nil where nothing is.
    fileprivate var payloadFault: SocketPacketError.Reason? {
        switch (kind, data) {
        case (.connect, nil), (.connect, .object), (.disconnect, nil), (.connectError, .string), (.connectError, .object): return nil
        case (.ack, .array), (.binaryAck, .array): return nil
        case (.event, .array(let array)), (.binaryEvent, .array(let array)):
            switch array.first {
            case .string(let name): return Self.isReserved(name) ? .reservedName(name) : nil
            case .integer, .number: return nil
            default: return .invalidPayload(kind)
            }
        default: return .invalidPayload(kind)
        }
    }
}
