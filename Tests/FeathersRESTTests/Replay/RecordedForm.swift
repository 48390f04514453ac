import Foundation

@testable import FeathersREST

/// A recorded form with files (`multipart/form-data`).
enum RecordedForm {
    static func parts(of body: [UInt8], boundary: String) -> [MultipartPart] {
        latin1(body).components(separatedBy: "--\(boundary)").dropFirst().dropLast().map { part in
            // CR and LF are one character.
            let halves = part.dropFirst().dropLast().split(
                separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
            let (head, content) = (utf8(String(halves[0])), halves.count > 1 ? String(halves[1]) : "")
            let data = content.data(using: .isoLatin1) ?? Data()
            let name = value(of: "name", in: head) ?? ""
            guard let filename = value(of: "filename", in: head) else {
                return .field(name, String(decoding: data, as: UTF8.self))
            }
            let type = head.components(separatedBy: "Content-Type: ").dropFirst().first ?? ""
            return .data(name, data, filename: filename, contentType: HTTPContentType(rawValue: type))
        }
    }

    /// The body with the same boundary in every form.
    static func comparable(_ body: [UInt8], boundary: String) -> String {
        latin1(body).replacingOccurrences(of: boundary, with: "BOUNDARY")
    }

    private static func latin1(_ bytes: [UInt8]) -> String { String(bytes: bytes, encoding: .isoLatin1) ?? "" }
    private static func utf8(_ latin1: String) -> String {
        String(decoding: latin1.data(using: .isoLatin1) ?? Data(), as: UTF8.self)
    }

    /// Undici escapes quotes and line breaks as browsers do.
    private static func value(of parameter: String, in head: String) -> String? {
        guard let start = head.range(of: "; \(parameter)=\"")?.upperBound, let end = head[start...].firstIndex(of: "\"")
        else { return nil }
        return String(head[start..<end]).replacing("%22", with: "\"").replacing("%0D", with: "\r").replacing(
            "%0A", with: "\n")
    }
}
