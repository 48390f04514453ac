public import Foundation

/// The content type of a body: the value of `Content-Type`. Use a string literal for any other type.
public struct HTTPContentType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible
{
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public init(stringLiteral value: String) { self.rawValue = value }

    public var description: String { rawValue }

    public static let json: HTTPContentType = "application/json"
    public static let xml: HTTPContentType = "application/xml"
    public static let yaml: HTTPContentType = "application/yaml"
    public static let form: HTTPContentType = "application/x-www-form-urlencoded"
    public static let plainText: HTTPContentType = "text/plain; charset=utf-8"
    public static let html: HTTPContentType = "text/html; charset=utf-8"
    public static let csv: HTTPContentType = "text/csv; charset=utf-8"
    public static let pdf: HTTPContentType = "application/pdf"
    public static let zip: HTTPContentType = "application/zip"
    public static let jpeg: HTTPContentType = "image/jpeg"
    public static let png: HTTPContentType = "image/png"
    public static let gif: HTTPContentType = "image/gif"
    public static let webP: HTTPContentType = "image/webp"
    public static let svg: HTTPContentType = "image/svg+xml"
    public static let mp4: HTTPContentType = "video/mp4"
    /// Bytes of any kind.
    public static let binary: HTTPContentType = "application/octet-stream"

    /// Creates the content type for a file from its filename extension; ``binary`` if the extension is unknown.
    public init(of file: URL) { self = Self.byExtension[file.pathExtension.lowercased()] ?? .binary }

    private static let byExtension: [String: HTTPContentType] = [
        "json": .json, "xml": .xml, "yaml": .yaml, "yml": .yaml, "txt": .plainText, "html": .html, "htm": .html,
        "csv": .csv, "pdf": .pdf,
        "zip": .zip, "jpg": .jpeg, "jpeg": .jpeg, "png": .png, "gif": .gif, "webp": .webP, "svg": .svg, "mp4": .mp4,
    ]
}

/// A media type for comparison: without parameters, and case-insensitive.
struct MediaType {
    private let type: Substring
    private let subtype: Substring

    /// Creates a media type; nil if the text is not a media type.
    init?(_ text: some StringProtocol) {
        let essence = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        let halves = essence.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty else { return nil }
        (type, subtype) = (halves[0], halves[1])
    }

    /// Returns whether one of the ranges in an `Accept` field covers this type.
    func isAccepted(by accept: String) -> Bool {
        accept.split(separator: ",").compactMap { MediaType($0) }.contains { range in
            (range.type == "*" || range.type == type) && (range.subtype == "*" || range.subtype == subtype)
        }
    }
}
