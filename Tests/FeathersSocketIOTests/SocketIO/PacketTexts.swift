@testable import FeathersSocketIO

extension SocketPacketDecoder {
    mutating func received(_ text: some StringProtocol) throws(SocketPacketError) -> SocketPacket? {
        try Array(text.utf8).withUnsafeBufferPointer { text throws(SocketPacketError) in try received(text) }
    }
}

extension SocketPacketParser {
    static func parse(
        _ text: some StringProtocol, maximumAttachments: Int = .max
    ) throws(SocketPacketError) -> (packet: SocketPacket, attachments: Int) {
        try Array(text.utf8).withUnsafeBufferPointer { text throws(SocketPacketError) in
            try parse(text, maximumAttachments: maximumAttachments)
        }
    }
}
