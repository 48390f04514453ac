/// What a close frame says (RFC 6455, section 5.5.1).
struct WebSocketCloseFrame: Equatable {
    /// Control frames carry 125 bytes, the code takes two.
    static let maximumReasonBytes = 123

    /// nil where the frame is empty.
    var code: UInt16?
    var reason: String

    /// - Parameters:
    ///   - code: one that may not be sent becomes 1000.
    ///   - reason: cut at a character where it is too long.
    init(code: UInt16, reason: String = "") {
        self.code = Self.isAllowed(code) ? code : 1000
        self.reason = Self.cut(reason)
    }

    /// - Throws: a violation for a payload of one byte, a code no peer may send, a reason that is no UTF-8.
    init(payload: [UInt8]) throws(WebSocketViolation) {
        guard payload.count != 1 else { throw .protocolError("A close frame holds half a code") }
        guard payload.count >= 2 else {
            code = nil
            reason = ""
            return
        }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard Self.isAllowed(code) else { throw .protocolError("A close frame holds the code \(code), which may not be sent") }
        guard let reason = String(validating: payload[2...], as: UTF8.self) else {
            throw .invalidText("A close frame's reason is no UTF-8")
        }
        self.code = code
        self.reason = reason
    }

    var payload: [UInt8] {
        guard let code else { return [] }
        return [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)] + reason.utf8
    }

    /// Sections 7.4.1 and 7.4.2, with what was registered since; 1004, 1005, 1006 and 1015 never travel.
    static func isAllowed(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    private static func cut(_ reason: String) -> String {
        guard reason.utf8.count > maximumReasonBytes else { return reason }
        var (end, size) = (reason.startIndex, 0)
        for index in reason.indices {
            size += reason[index].utf8.count
            if size > maximumReasonBytes { break }
            end = reason.index(after: index)
        }
        return String(reason[..<end])
    }
}
