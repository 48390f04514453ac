extension HTTPHeaders {
    static func check(_ name: String, _ value: String) throws(HTTPClientError) {
        guard HTTPFieldSyntax.isToken(name) else {
            throw HTTPClientError(.invalidHeader, "The header name \(HTTPFieldSyntax.printable(name)) is no valid field name")
        }
        guard HTTPFieldSyntax.isFieldValue(value) else {
            throw HTTPClientError(.invalidHeader, "The value of the header \(name) holds control characters, such as line breaks")
        }
        let lowercased = name.lowercased()
        guard lowercased != "content-length", lowercased != "transfer-encoding" else {
            throw HTTPClientError(.invalidHeader, "The header \(name) frames the message and is set by the HTTP client itself")
        }
    }
}

/// What may stand in a header field (RFC 9110, sections 5.5 and 5.6.2).
package enum HTTPFieldSyntax {
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
    }

    package static func isFieldValue(_ text: String) -> Bool {
        // Bytes over 0x7F are obs-text: legal, and what a UTF-8 value becomes.
        text.utf8.allSatisfy { byte in byte >= 0x20 && byte != 0x7F || byte == 0x09 }
    }

    /// A rejected name in quotes, its control characters escaped so that a log line stays one line.
    static func printable(_ text: String) -> String {
        "\"" + text.prefix(80).unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"),
            UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
