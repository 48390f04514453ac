import FeathersCore
import FeathersNetworking
import Foundation

/// The rules for converting an HTTP response to an endpoint's response.
struct EndpointReading<Response: Sendable>: Sendable {
    let kind: EndpointAnswerKind
    /// The function that creates the response from the hooks' result and the HTTP response as received.
    let response:
        @Sendable (_ result: ServiceResponse, _ answer: HTTPResponse, _ codec: any JSONCodec) throws -> Response
}

/// The part of an HTTP response that is needed, which determines what hooks see as `result`.
enum EndpointAnswerKind: Sendable {
    /// JSON, which hooks see.
    case json
    /// Text; hooks see it as a string.
    case text
    /// Bytes; hooks see null.
    case bytes
    /// Nothing; hooks see null.
    case nothing
    /// A file; hooks see null.
    case file(URL)

    var accept: String { if case .json = self { "application/json" } else { "*/*" } }
}

extension EndpointReading where Response: Decodable {
    static func decoding(_ rootKeys: [RootKey]) -> EndpointReading {
        if Response.self == EmptyResponse.self { return known(.nothing) { _, _ in EmptyResponse() } }
        if rootKeys.isEmpty {
            if Response.self == String.self { return known(.text) { result, _ in result.asText } }
            if Response.self == Data.self { return known(.bytes) { Data(try bytes($0, $1)) } }
            if Response.self == [UInt8].self { return known(.bytes) { try bytes($0, $1) } }
        }
        return EndpointReading(kind: .json) { result, _, codec in try result.decode(Response.self, at: rootKeys, codec)
        }
    }

    /// Creates a reading whose value is known to be of the response's type.
    private static func known(
        _ kind: EndpointAnswerKind, _ value: @escaping @Sendable (JSONValue, HTTPResponse) throws -> some Sendable
    )
        -> EndpointReading
    {
        EndpointReading(kind: kind) { result, answer, _ in
            guard let response = try value(result.result, answer) as? Response else {
                throw FeathersError(.generalError, "The response is not a \(Response.self)")
            }
            return response
        }
    }
}

extension EndpointReading {
    static func raw(_ decode: @escaping @Sendable (HTTPResponse) throws -> Response) -> EndpointReading {
        EndpointReading(kind: .bytes) { result, answer, _ in
            var answer = answer
            answer.body = try bytes(result.result, answer)
            return try decode(answer)
        }
    }

    /// Returns the body, or the result that a hook set in its place: a string's UTF-8, or JSON.
    fileprivate static func bytes(_ result: JSONValue, _ answer: HTTPResponse) throws -> [UInt8] {
        if result.isNull { return answer.body }
        return try result.asBytes()
    }
}

extension EndpointReading<DownloadedFile> {
    static func file(_ destination: URL) -> EndpointReading {
        EndpointReading(kind: .file(destination)) { result, _, _ in
            // A result set by a hook becomes the file, as if the server had sent it.
            let result = result.result
            if !result.isNull { try Data(result.asBytes()).write(to: destination, options: .atomic) }
            return DownloadedFile(url: destination)
        }
    }
}

extension JSONValue {
    fileprivate var asText: String { isNull ? "" : string ?? description }
    fileprivate func asBytes() throws -> [UInt8] { try string.map { Array($0.utf8) } ?? serialized() }
}
