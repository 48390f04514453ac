public import FeathersCore
import FeathersNetworking
public import Foundation

/// What an endpoint sends.
public struct EndpointBody: Sendable {
    enum Content: Sendable {
        /// Encoded by the call's codec; hooks see and may change it as `context.data`.
        case json(@Sendable (any JSONCodec) throws -> JSONValue)
        /// Made only when sent; hooks do not see it.
        case other(@Sendable () throws -> (HTTPBody, HTTPContentType))
    }

    let content: Content

    /// A value as JSON, encoded as the call's, the endpoint's or the app's coding options say.
    public static func json(_ value: some Encodable & Sendable) -> EndpointBody { EndpointBody(content: .json { try $0.encode(value) }) }

    /// JSON as it is: the form for literals with values of several kinds.
    public static func json(_ value: JSONValue) -> EndpointBody { EndpointBody(content: .json { _ in value }) }

    /// Bytes of any type.
    public static func data(_ data: Data, contentType: HTTPContentType = .binary) -> EndpointBody {
        EndpointBody(content: .other { (HTTPBody([UInt8](data)), contentType) })
    }

    /// Text in UTF-8.
    public static func text(_ text: String, contentType: HTTPContentType = .plainText) -> EndpointBody {
        EndpointBody(content: .other { (HTTPBody(Array(text.utf8)), contentType) })
    }

    /// A value in a format of your own: `encode` makes the bytes when the request is sent.
    public static func encoded<Value: Sendable>(
        _ value: Value, contentType: HTTPContentType, by encode: @escaping @Sendable (Value) throws -> Data
    ) -> EndpointBody {
        EndpointBody(content: .other { (HTTPBody([UInt8](try encode(value))), contentType) })
    }

    /// The fields of a form, `application/x-www-form-urlencoded`.
    public static func form(_ items: [URLQueryItem]) -> EndpointBody {
        EndpointBody(content: .other { (HTTPBody(Array(items.formEncoded.utf8)), .form) })
    }

    /// A file's content, read while it is sent and never whole in memory.
    /// - Parameters:
    ///   - url: the file's place.
    ///   - contentType: nil takes what the name's extension says.
    public static func file(_ url: URL, contentType: HTTPContentType? = nil) -> EndpointBody {
        EndpointBody(content: .other { (HTTPBody(file: url), contentType ?? HTTPContentType(of: url)) })
    }

    /// The parts of a form with files (`multipart/form-data`, RFC 7578). Files are read while they are sent and never whole in memory.
    public static func multipart(_ parts: [MultipartPart]) -> EndpointBody {
        EndpointBody(
            content: .other {
                let form = MultipartForm(parts)
                return (try form.body(), form.contentType)
            })
    }
}

extension [URLQueryItem] {
    /// As in a URL's query, every name and value percent-encoded; an item without value is its name alone.
    var formEncoded: String {
        map { item in
            let name = percentEncoded(component: item.name)
            return item.value.map { "\(name)=\(percentEncoded(component: $0))" } ?? name
        }.joined(separator: "&")
    }
}
