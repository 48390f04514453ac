public import FeathersCore

/// An error as a server describes it.
public struct JSONAPIErrorObject: Hashable, Sendable {
    /// A name for this very occurrence.
    public var id: String?
    /// The HTTP status that belongs to this error, as text.
    public var status: String?
    /// The application's own code.
    public var code: String?
    /// What is wrong, in words that are the same for every error of the kind.
    public var title: String?
    /// What is wrong in this case.
    public var detail: String?
    /// What in the request caused it.
    public var source: Source?
    /// `about`: more on this occurrence; `type`: more on errors of this kind.
    public var links: JSONAPILinks
    /// What else the server says of it.
    public var meta: JSONObject?

    /// What in a request caused an error.
    public struct Source: Hashable, Sendable {
        /// A place in the request's document (RFC 6901), as the server wrote it.
        public var pointer: String?
        /// The name of a query parameter.
        public var parameter: String?
        /// The name of a header field.
        public var header: String?

        /// A source; the parameters are the properties of the same names.
        public init(pointer: String? = nil, parameter: String? = nil, header: String? = nil) {
            self.pointer = pointer
            self.parameter = parameter
            self.header = header
        }
    }

    /// An error object; the parameters are the properties of the same names.
    public init(
        id: String? = nil, status: String? = nil, code: String? = nil, title: String? = nil, detail: String? = nil, source: Source? = nil,
        links: JSONAPILinks = JSONAPILinks(), meta: JSONObject? = nil
    ) {
        self.id = id
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.source = source
        self.links = links
        self.meta = meta
    }

    /// The addresses of `links.type`, which is a link, though profiles older than JSON:API 1.1 write an array of them.
    public var typeLinks: [String] {
        guard let type = links.json["type"] else { return [] }
        return (type.array ?? [type]).compactMap { JSONAPILink(reading: $0)?.href }
    }
}

extension JSONAPIErrorObject {
    init(reading json: JSONObject) {
        let source = json["source"]?.object.map {
            Source(pointer: $0["pointer"]?.string, parameter: $0["parameter"]?.string, header: $0["header"]?.string)
        }
        self.init(
            id: json["id"].flatMap(JSONAPIResource.identifierText), status: json["status"].flatMap(JSONAPIResource.identifierText),
            code: json["code"].flatMap(JSONAPIResource.identifierText), title: json["title"]?.string, detail: json["detail"]?.string,
            source: source, links: JSONAPILinks(json["links"]?.object ?? [:]), meta: json["meta"]?.object)
    }

    /// The error as it stands in a document.
    public var json: JSONValue {
        func object(_ members: [(String, String?)]) -> JSONObject {
            JSONObject(members.compactMap { name, value in value.map { (name, .string($0)) } })
        }
        var json = object([("id", id), ("status", status), ("code", code), ("title", title), ("detail", detail)])
        if let source {
            json["source"] = .object(object([("pointer", source.pointer), ("parameter", source.parameter), ("header", source.header)]))
        }
        if !links.isEmpty { json["links"] = .object(links.json) }
        if let meta { json["meta"] = .object(meta) }
        return .object(json)
    }
}
