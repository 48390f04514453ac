public import FeathersCore
import FeathersNetworking
public import Foundation

/// The body of an endpoint's request.
public struct EndpointBody: Sendable {
    enum Content: Sendable {
        /// Encoded by the call's codec. Hooks see it as `context.data` and may change it.
        case json(@Sendable (any JSONCodec) throws -> JSONValue)
        /// Created only when the request is sent. Hooks do not see it.
        case other(@Sendable () throws -> (HTTPBody, HTTPContentType))
    }

    let content: Content

    /// Creates a body from a value encoded as JSON with the coding options of the call, the endpoint, or the app.
    public static func json(_ value: some Encodable & Sendable) -> EndpointBody {
        EndpointBody(content: .json { try $0.encode(value) })
    }

    /// Creates a body from JSON. Use it for literals with values of several types.
    public static func json(_ value: JSONValue) -> EndpointBody { EndpointBody(content: .json { _ in value }) }

    /// Creates a body from bytes of any content type.
    public static func data(_ data: Data, contentType: HTTPContentType = .binary) -> EndpointBody {
        EndpointBody(content: .other { (HTTPBody([UInt8](data)), contentType) })
    }

    /// Creates a body from text, in UTF-8.
    public static func text(_ text: String, contentType: HTTPContentType = .plainText) -> EndpointBody {
        EndpointBody(content: .other { (HTTPBody(Array(text.utf8)), contentType) })
    }

    /// Creates a body from a value in your own format. `encode` creates the bytes when the request is sent.
    public static func encoded<Value: Sendable>(
        _ value: Value, contentType: HTTPContentType, by encode: @escaping @Sendable (Value) throws -> Data
    ) -> EndpointBody {
        EndpointBody(content: .other { (HTTPBody([UInt8](try encode(value))), contentType) })
    }

    /// Creates a body from the fields of a form (`application/x-www-form-urlencoded`).
    public static func form(_ items: [URLQueryItem]) -> EndpointBody {
        EndpointBody(content: .other { (HTTPBody(Array(items.formEncoded.utf8)), .form) })
    }

    /// Creates a body from a file, which is read while it is sent and never held in memory as a whole.
    /// - Parameters:
    ///   - url: The location of the file.
    ///   - contentType: The content type; nil derives it from the filename extension.
    public static func file(_ url: URL, contentType: HTTPContentType? = nil) -> EndpointBody {
        EndpointBody(content: .other { (HTTPBody(file: url), contentType ?? HTTPContentType(of: url)) })
    }

    /// Creates a body from bytes that are produced while they are sent, without a `Content-Length` (`Transfer-Encoding:
    /// chunked`).
    ///
    /// The sequence is asked for more as the server accepts what was sent. At most 64 KiB and one element are buffered.
    /// If the sequence throws an error, the call throws it. An error or a cancellation ends the request and closes the
    /// connection, so that the server does not mistake the beginning of the body for all of it. The call returns once
    /// the sequence has responded to the cancellation of its task, even after a timeout.
    ///
    /// A stream can be sent only once. If the request has to be repeated, for example after a redirect or with a
    /// renewed token, the call throws an error that says so. A server that requires a length responds with 411.
    ///
    /// `URLSession` first writes the stream to a temporary file and then sends the file. Clients that cannot stream
    /// keep the body in memory. In both cases, the server receives nothing before the sequence has ended.
    /// - Parameters:
    ///   - pieces: The bytes, in pieces of any size.
    ///   - contentType: The content type of the bytes.
    public static func stream<Pieces: AsyncSequence & Sendable>(
        _ pieces: Pieces, contentType: HTTPContentType = .binary
    ) -> EndpointBody where Pieces.Element == Data {
        let source = HTTPBodySource(pieces)
        return EndpointBody(content: .other { (HTTPBody(stream: source), contentType) })
    }

    /// Creates a body from the parts of a form with files (`multipart/form-data`, RFC 7578). Files are read while they
    /// are sent.
    public static func multipart(_ parts: [MultipartPart]) -> EndpointBody {
        EndpointBody(
            content: .other {
                let form = MultipartForm(parts)
                return (try form.body(), form.contentType)
            })
    }
}

extension [URLQueryItem] {
    /// The items as in a URL's query, with names and values percent-encoded. An item without a value is its name alone.
    var formEncoded: String {
        map { item in
            let name = percentEncoded(component: item.name)
            return item.value.map { "\(name)=\(percentEncoded(component: $0))" } ?? name
        }.joined(separator: "&")
    }
}
