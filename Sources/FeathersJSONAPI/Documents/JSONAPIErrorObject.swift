public import FeathersCore

/// An error described by a server.
public struct JSONAPIErrorObject: Hashable, Sendable {
    /// A unique identifier for this occurrence of the error.
    public var id: String?
    /// The HTTP status of this error, as a string.
    public var status: String?
    /// An application-specific code.
    public var code: String?
    /// A summary that is the same for all errors of this kind.
    public var title: String?
    /// An explanation of this occurrence of the error.
    public var detail: String?
    /// The part of the request that caused the error.
    public var source: Source?
    /// The error's links: `about` for details on this occurrence, `type` for details on errors of this kind.
    public var links: JSONAPILinks
    /// The metadata of the error.
    public var meta: JSONObject?

    /// The part of a request that caused an error.
    public struct Source: Hashable, Sendable {
        /// A location in the request's document (RFC 6901), as written by the server.
        public var pointer: String?
        /// The name of a query parameter.
        public var parameter: String?
        /// The name of a header field.
        public var header: String?
    }

    init(reading json: JSONObject) {
        id = json["id"]?.identifierText
        status = json["status"]?.identifierText
        code = json["code"]?.identifierText
        title = json["title"]?.string
        detail = json["detail"]?.string
        source = json["source"]?.object.map {
            Source(pointer: $0["pointer"]?.string, parameter: $0["parameter"]?.string, header: $0["header"]?.string)
        }
        links = JSONAPILinks(reading: json["links"])
        meta = json["meta"]?.object
    }

    /// The error as JSON.
    public var json: JSONValue {
        var json = JSONObject(texts: [
            ("id", id), ("status", status), ("code", code), ("title", title), ("detail", detail),
        ])
        json["source"] = source.map {
            .object(JSONObject(texts: [("pointer", $0.pointer), ("parameter", $0.parameter), ("header", $0.header)]))
        }
        json.set(links, meta)
        return .object(json)
    }

    /// The URLs in `links.type`. It is a single link, but profiles older than JSON:API 1.1 use an array.
    public var typeLinks: [String] {
        guard let type = links.json["type"] else { return [] }
        return (type.array ?? [type]).compactMap { JSONAPILink(reading: $0)?.href }
    }

    /// The index of the operation that caused the error; nil if the error's pointer does not point to an operation.
    public var operationIndex: Int? {
        guard let tokens = source?.pointer.flatMap(JSONPointer.init)?.tokens, tokens.first == "atomic:operations" else {
            return nil
        }
        return tokens.dropFirst().first.flatMap { Int($0) }
    }

    /// The server's maximum page size, if the request exceeded it (cursor pagination profile).
    public var maximumPageSize: Int? { meta?["page"]?["maxSize"]?.integer.flatMap { Int(exactly: $0) } }
}
