import FeathersCore
import FeathersSupport
import Foundation

/// A recorded body. Values over 6000 bytes were clipped in the middle; those made of the `big` service's text are
/// rebuilt.
struct RecordedBody: Sendable {
    let bytes: [UInt8]
    /// Whether `bytes` are all there was, checked by length and SHA-256 where the recording has them.
    let isWhole: Bool

    /// - Parameter json: The request or response the body belongs to; nil where it had none.
    init?(_ json: JSONValue) {
        guard let text = json["body"]?.string else { return nil }
        if json["bodyClipped"] == true {
            let count = Int(json["bodyBytes"]?.integer ?? -1)
            let rebuilt = Self.rebuilt(text, count: count)
            isWhole = rebuilt.map { $0.count == count && SHA256.hex($0) == json["bodySha256"]?.string } ?? false
            bytes = isWhole ? rebuilt ?? [] : Array(text.utf8)
        } else if let encoded = text.dropped(prefix: "base64:"), let data = Data(base64Encoded: encoded) {
            bytes = Array(data)
            isWhole = true
        } else {
            bytes = Array(text.utf8)
            isWhole = true
        }
    }

    /// - Parameter chunks: The chunks of a recorded event stream.
    init(chunks: [JSONValue]) {
        bytes = Array(chunks.map { $0["text"]?.string ?? "" }.joined().utf8)
        isWhole = chunks.allSatisfy { $0["textClipped"] == nil }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// `pattern` repeated and padded with `x` to `count` bytes: what the `big` service answers.
    static func bigText(_ count: Int) -> [UInt8] {
        let pattern = Array("aé€😀".utf8)
        guard count > 0 else { return [] }
        let repeated = (0..<count / pattern.count).flatMap { _ in pattern }
        return repeated + Array(repeating: UInt8(ascii: "x"), count: count - repeated.count)
    }

    private static func rebuilt(_ clipped: String, count: Int) -> [UInt8]? {
        let halves = clipped.components(separatedBy: " …CLIPPED… ")
        guard halves.count == 2, let start = halves[0].range(of: "aé€😀"),
            let end = halves[1].range(of: "😀", options: .backwards)
        else {
            return nil
        }
        let lead = Array(halves[0][..<start.lowerBound].utf8)
        let trail = Array(halves[1][end.upperBound...].drop { $0 == "x" }.utf8)
        return lead + bigText(count - lead.count - trail.count) + trail
    }
}

extension String {
    func dropped(prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
