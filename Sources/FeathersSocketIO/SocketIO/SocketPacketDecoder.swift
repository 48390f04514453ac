import FeathersCore
import FeathersSupport
import Foundation

/// Assembles packets from a text and the attachments that follow it. JSON has no binary type, so attachments become
/// Base64 text, from which a model's `Data` property can be decoded.
struct SocketPacketDecoder: Sendable {
    struct Limits: Sendable, Hashable {
        /// The maximum number of attachments in a packet. The default of 10 matches socket.io-parser.
        var attachments = 10
        var bytes = TextLimit.standard
    }

    private struct Unfinished: Sendable {
        var packet: SocketPacket
        var expected: Int
        var attachments: [[UInt8]] = []
        var size: Int
    }

    /// The text of events up to their data, and their name.
    private struct Beginning: Sendable {
        let bytes: [UInt8]
        let name: JSONValue
    }

    private let limits: Limits
    private var unfinished: Unfinished?
    /// The beginning that events share if two in a row had it.
    private var beginning: Beginning?
    private var lastName: String?

    init(limits: Limits = Limits()) { self.limits = limits }

    /// - Parameter text: A packet's text in UTF-8.
    /// - Returns: The packet, or nil while its attachments are missing.
    mutating func received(_ text: UnsafeBufferPointer<UInt8>) throws(SocketPacketError) -> SocketPacket? {
        guard unfinished == nil else { throw SocketPacketError(.textInsteadOfAttachment) }
        guard text.count <= limits.bytes else { throw SocketPacketError(.tooLarge(limit: limits.bytes)) }
        if let packet = repeatedEvent(text) { return packet }
        var (packet, attachments) = try SocketPacketParser.parse(text, maximumAttachments: limits.attachments)
        packet.size = text.count
        if attachments > 0 {
            unfinished = Unfinished(packet: packet, expected: attachments, size: text.count)
            return nil
        }
        packet.kind = packet.kind.withoutAttachments
        note(packet, text)
        return packet
    }

    /// Notes the beginning of an event of the main namespace whose only argument is an object.
    private mutating func note(_ packet: SocketPacket, _ text: UnsafeBufferPointer<UInt8>) {
        guard packet.kind == .event, case .array(let arguments)? = packet.data, arguments.count == 2,
            case .string(let name) = arguments[0], case .object = arguments[1]
        else { return }
        guard name == lastName else {
            lastName = name
            return
        }
        let bytes = Array("2[\"\(name)\",".utf8)
        // A name with escapes, or spaces between the values, is written differently.
        if text.starts(with: bytes) { beginning = Beginning(bytes: bytes, name: arguments[0]) }
    }

    /// Returns an event with the noted beginning, by parsing only its data; nil for any other text.
    private func repeatedEvent(_ text: UnsafeBufferPointer<UInt8>) -> SocketPacket? {
        guard let beginning, let start = text.baseAddress, text.last == UInt8(ascii: "]") else { return nil }
        let count = beginning.bytes.count
        guard text.count > count, text[count] == UInt8(ascii: "{"), memcmp(start, beginning.bytes, count) == 0 else {
            return nil
        }
        // Other arguments, or anything else that is not the data alone, is an error here and parsed with the rest.
        let data = UnsafeBufferPointer(rebasing: text[count..<(text.count - 1)])
        guard let data = try? JSONValue(parsing: data, maximumDepth: JSONValue.defaultMaximumDepth - 1) else {
            return nil
        }
        var packet = SocketPacket(.event, data: .array([beginning.name, data]))
        packet.size = text.count
        return packet
    }

    /// - Returns: The packet that this attachment completes, or nil while more are missing.
    mutating func received(attachment: [UInt8]) throws(SocketPacketError) -> SocketPacket? {
        guard var waiting = unfinished else { throw SocketPacketError(.unexpectedAttachment) }
        unfinished = nil
        waiting.size += attachment.count
        guard waiting.size <= limits.bytes else { throw SocketPacketError(.tooLarge(limit: limits.bytes)) }
        waiting.attachments.append(attachment)
        guard waiting.attachments.count == waiting.expected else {
            unfinished = waiting
            return nil
        }
        var packet = waiting.packet
        packet.kind = packet.kind.withoutAttachments
        packet.size = waiting.size
        let texts = waiting.attachments.map { Data($0).base64EncodedString() }
        packet.data = try packet.data.map { data throws(SocketPacketError) in try Self.fill(data, with: texts) }
        return packet
    }

    private static func fill(_ value: JSONValue, with texts: [String]) throws(SocketPacketError) -> JSONValue {
        switch value {
        case .array(let array):
            return .array(try array.map { element throws(SocketPacketError) in try fill(element, with: texts) })
        case .object(var object):
            if object["_placeholder"] == .bool(true) {
                guard let index = object["num"]?.integer, index >= 0, index < texts.count else {
                    throw SocketPacketError(.illegalPlaceholder)
                }
                return .string(texts[Int(index)])
            }
            for key in object.keys { object[key] = try fill(object[key] ?? .null, with: texts) }
            return .object(object)
        default: return value
        }
    }
}

/// Parses the text of a packet: `<type>[<attachments>-][<namespace>,][<id>][<JSON>]`.
struct SocketPacketParser {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var cursor = 0
    private let maximumAttachments: Int

    static func parse(
        _ text: UnsafeBufferPointer<UInt8>, maximumAttachments: Int = .max
    ) throws(SocketPacketError) -> (packet: SocketPacket, attachments: Int) {
        var parser = SocketPacketParser(bytes: text, maximumAttachments: maximumAttachments)
        return try parser.parse()
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
        guard let count = digits() else {
            throw SocketPacketError(.tooManyAttachments(limit: maximumAttachments), at: start)
        }
        guard cursor > start, cursor < bytes.count, bytes[cursor] == UInt8(ascii: "-") else {
            throw SocketPacketError(.illegalAttachmentCount, at: start)
        }
        guard count <= maximumAttachments else {
            throw SocketPacketError(.tooManyAttachments(limit: maximumAttachments), at: start)
        }
        cursor += 1
        return count
    }

    /// Reads from `/` up to `,`, or to the end if there is no comma.
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

    /// Reads a number. Returns 0 if there are no digits, or nil if the number does not fit into an `Int`.
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
    /// The reason why the payload is invalid by the rules of socket.io-parser, or nil if it is valid.
    fileprivate var payloadFault: SocketPacketError.Reason? {
        switch (kind, data) {
        case (.connect, nil), (.connect, .object), (.disconnect, nil), (.connectError, .string),
            (.connectError, .object):
            return nil
        case (.ack, .array), (.binaryAck, .array): return nil
        case (.event, .array(let array)), (.binaryEvent, .array(let array)):
            switch array.first {
            case .string(let name): return Self.isReserved(name) ? .reservedName(name) : nil
            case .integer, .number, .decimal: return nil
            default: return .invalidPayload(kind)
            }
        default: return .invalidPayload(kind)
        }
    }
}
