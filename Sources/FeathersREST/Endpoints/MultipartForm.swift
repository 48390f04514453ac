import FeathersCore
import FeathersNetworking
public import Foundation

/// One part of a form with files.
public struct MultipartPart: Sendable {
    /// The part's name in the form.
    public let name: String
    /// The filename that is sent to the server; nil for a field.
    public let filename: String?
    /// The content type of the bytes; nil for a field.
    public let contentType: HTTPContentType?
    let content: HTTPBody

    /// Creates a field with text.
    public static func field(_ name: String, _ value: String) -> MultipartPart {
        MultipartPart(name: name, filename: nil, contentType: nil, content: HTTPBody(Array(value.utf8)))
    }

    /// Creates a part from bytes in memory.
    /// - Parameters:
    ///   - name: The part's name in the form.
    ///   - data: The bytes.
    ///   - filename: The filename to send to the server; nil makes the part a field.
    ///   - contentType: The content type of the bytes.
    public static func data(
        _ name: String, _ data: Data, filename: String? = nil, contentType: HTTPContentType = .binary
    ) -> MultipartPart {
        MultipartPart(name: name, filename: filename, contentType: contentType, content: HTTPBody([UInt8](data)))
    }

    /// Creates a part from a file, which is read while it is sent.
    /// - Parameters:
    ///   - name: The part's name in the form.
    ///   - url: The location of the file.
    ///   - filename: The filename to send to the server; nil for the file's own name.
    ///   - contentType: The content type; nil derives it from the filename extension.
    public static func file(_ name: String, at url: URL, filename: String? = nil, contentType: HTTPContentType? = nil)
        -> MultipartPart
    {
        MultipartPart(
            name: name, filename: filename ?? url.lastPathComponent,
            contentType: contentType ?? HTTPContentType(of: url),
            content: HTTPBody(file: url))
    }

    /// Creates a part from bytes that are produced while they are sent, as ``EndpointBody/stream(_:contentType:)``
    /// does.
    /// - Parameters:
    ///   - name: The part's name in the form.
    ///   - pieces: The bytes.
    ///   - filename: The filename to send to the server; nil makes the part a field.
    ///   - contentType: The content type of the bytes.
    public static func stream<Pieces: AsyncSequence & Sendable>(
        _ name: String, _ pieces: Pieces, filename: String?, contentType: HTTPContentType = .binary
    ) -> MultipartPart where Pieces.Element == Data {
        MultipartPart(
            name: name, filename: filename, contentType: contentType, content: HTTPBody(stream: HTTPBodySource(pieces)))
    }
}

/// Writes the parts of a form. Files and streams are added by reference.
struct MultipartForm {
    private let parts: [MultipartPart]
    private let boundary: String

    init(_ parts: [MultipartPart]) {
        self.parts = parts
        // 128 random bits, so that the content cannot contain the boundary.
        boundary =
            "feathers-"
            + (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined(separator: "-")
    }

    var contentType: HTTPContentType { HTTPContentType(rawValue: "multipart/form-data; boundary=\(boundary)") }

    /// - Throws: ``FeathersError/Code/badRequest`` that names the part whose content type cannot be sent.
    func body() throws(FeathersError) -> HTTPBody {
        var body = HTTPBody()
        for part in parts {
            body.append(Array(try head(of: part).utf8))
            body.append(part.content)
            body.append(Array("\r\n".utf8))
        }
        body.append(Array("--\(boundary)--\r\n".utf8))
        return body
    }

    private func head(of part: MultipartPart) throws(FeathersError) -> String {
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(part.name))\""
        if let filename = part.filename { head += "; filename=\"\(Self.escaped(filename))\"" }
        head += "\r\n"
        if let contentType = part.contentType {
            guard HTTPFieldSyntax.isFieldValue(contentType.rawValue) else {
                throw .refused(
                    "The content type of the part '\(part.name)' contains control characters, such as line breaks")
            }
            head += "Content-Type: \(contentType)\r\n"
        }
        return head + "\r\n"
    }

    /// Escapes a name as browsers do (HTML standard, "multipart/form-data encoding algorithm"): UTF-8, with quotes and
    /// line breaks percent-encoded.
    private static func escaped(_ name: String) -> String { name.escaping(["\"": "%22", "\r": "%0D", "\n": "%0A"]) }
}
