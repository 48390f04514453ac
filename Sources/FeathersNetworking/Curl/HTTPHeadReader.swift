/// Reads response heads line by line and checks status, fields, and limits. libcurl passes interim responses (1xx), the
/// final response, and trailers to the same callback. Fields of interim responses and trailers are discarded.
struct HTTPHeadReader {
    enum Failure: Error { case malformedStatusLine, malformedField, invalidLength, tooLarge }

    private enum Phase { case statusLine, fields, complete }

    /// The limit that libcurl itself has applied since 8.3. It includes interim responses and trailers.
    static let maximumBytes = 300 * 1024

    /// The status of the latest head, or 0 before the first one.
    private(set) var status = 0
    private(set) var fields: [HTTPHeaders.Field] = []
    /// The seconds after which the server closes an idle connection (`Keep-Alive: timeout=5`), if it says so.
    var keepAlive: Int? {
        let field = fields.first { HTTPHeaders.same($0.name, "Keep-Alive") }?.value.lowercased()
        return field?.split(separator: "timeout=").last.flatMap { Int($0.prefix { $0.isNumber }) }
    }
    private var phase = Phase.statusLine
    private var bytes = 0

    var isComplete: Bool { phase == .complete }

    mutating func read(_ line: UnsafeRawBufferPointer) throws(Failure) {
        bytes += line.count
        guard bytes <= Self.maximumBytes else { throw .tooLarge }
        switch phase {
        case .statusLine: try readStatusLine(Self.trimmed(line[...]))
        case .fields: try readField(line)
        case .complete: break
        }
    }

    private mutating func readStatusLine(_ line: Slice<UnsafeRawBufferPointer>) throws(Failure) {
        // After an interim response, libcurl may pass the blank line twice.
        if line.isEmpty, status != 0 { return }
        guard line.starts(with: "HTTP/".utf8), let space = line.firstIndex(of: UInt8(ascii: " ")) else {
            throw .malformedStatusLine
        }
        let version = line[..<space].dropFirst(5)
        guard let major = version.first, Self.isDigit(major),
            version.allSatisfy({ Self.isDigit($0) || $0 == UInt8(ascii: ".") })
        else {
            throw .malformedStatusLine
        }
        let code = line[(space + 1)...].prefix { $0 != UInt8(ascii: " ") }
        guard code.count == 3, code.first != UInt8(ascii: "0"), code.allSatisfy(Self.isDigit) else {
            throw .malformedStatusLine
        }
        status = code.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        fields.removeAll(keepingCapacity: true)
        // Enough for most responses.
        fields.reserveCapacity(16)
        phase = .fields
    }

    private mutating func readField(_ whole: UnsafeRawBufferPointer) throws(Failure) {
        let line = Self.trimmed(whole[...])
        if line.isEmpty {
            phase = status < 200 ? .statusLine : .complete
            guard phase == .statusLine || hasValidLength else { throw .invalidLength }
            return
        }
        guard !line.contains(0) else { throw .malformedField }
        if let first = whole.first, Self.isSpace(first), let last = fields.popLast() {
            // Line folding (RFC 9112, section 5.2) is obsolete, but some servers still use it.
            fields.append((last.name, last.value + " " + String(decoding: line, as: UTF8.self)))
            return
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { throw .malformedField }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        fields.append((name, String(decoding: Self.trimmed(line[(colon + 1)...]), as: UTF8.self)))
    }

    /// Whether all `Content-Length` values in the head are numbers and agree (RFC 9112, section 6.3). libcurl picks one
    /// of several, and reads `8abc` as 8. A proxy in between may then see the body end elsewhere, followed by another
    /// response.
    private var hasValidLength: Bool {
        var length: Int64?
        for field in fields where HTTPHeaders.same(field.name, "Content-Length") {
            var rest = field.value.utf8[...]
            while true {
                let piece = rest.prefix { $0 != UInt8(ascii: ",") }
                var text = piece.drop(while: Self.isSpace)
                while let last = text.last, Self.isSpace(last) { text.removeLast() }
                guard text.allSatisfy(Self.isDigit), let number = Int64(Substring(text)), length ?? number == number
                else { return false }
                length = number
                guard piece.endIndex < rest.endIndex else { break }
                rest = rest[piece.endIndex...].dropFirst()
            }
        }
        return true
    }

    private static func trimmed(_ line: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        var line = line
        while let last = line.last, isSpace(last) || last == UInt8(ascii: "\r") || last == UInt8(ascii: "\n") {
            line.removeLast()
        }
        while let first = line.first, isSpace(first) { line.removeFirst() }
        return line
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
