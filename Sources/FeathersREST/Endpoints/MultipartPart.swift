public import Foundation

/// One part of a form with files.
public struct MultipartPart: Sendable {
    enum Content: Sendable {
        case bytes([UInt8])
        case file(URL)
    }

    let name: String
    let filename: String?
    let contentType: HTTPContentType?
    let content: Content

    /// A field with a text.
    public static func field(_ name: String, _ value: String) -> MultipartPart {
        MultipartPart(name: name, filename: nil, contentType: nil, content: .bytes(Array(value.utf8)))
    }

    /// Bytes at hand.
    /// - Parameters:
    ///   - name: the part's name in the form.
    ///   - data: the bytes.
    ///   - filename: what the server is told the file is called; nil makes the part a field.
    ///   - contentType: what the bytes are.
    public static func data(
        _ name: String, _ data: Data, filename: String? = nil, contentType: HTTPContentType = .binary
    ) -> MultipartPart {
        MultipartPart(name: name, filename: filename, contentType: contentType, content: .bytes([UInt8](data)))
    }

    /// A file, read while it is sent.
    /// - Parameters:
    ///   - name: the part's name in the form.
    ///   - url: the file's place.
    ///   - filename: what the server is told the file is called; nil for its own name.
    ///   - contentType: nil takes what the name's extension says.
    public static func file(
        _ name: String, at url: URL, filename: String? = nil, contentType: HTTPContentType? = nil
    ) -> MultipartPart {
        MultipartPart(
            name: name, filename: filename ?? url.lastPathComponent, contentType: contentType ?? HTTPContentType(of: url),
            content: .file(url))
    }
}
