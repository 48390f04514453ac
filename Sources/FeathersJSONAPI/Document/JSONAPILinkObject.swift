public import FeathersCore

/// A link with what the server says of it.
public struct JSONAPILinkObject: Hashable, Sendable {
    /// Where the link leads, as it stands in the document.
    public var href: String
    /// The relation's type (RFC 8288).
    public var rel: String?
    /// Where the link's target is described.
    public var describedby: String?
    /// A name of the target for people.
    public var title: String?
    /// The media type of the target.
    public var type: String?
    /// The languages of the target; one is written as a string.
    public var hreflang: [String]
    /// What else the server says of the link.
    public var meta: JSONObject?

    /// A link; the parameters are the properties of the same names.
    public init(
        href: String, rel: String? = nil, describedby: String? = nil, title: String? = nil, type: String? = nil, hreflang: [String] = [],
        meta: JSONObject? = nil
    ) {
        self.href = href
        self.rel = rel
        self.describedby = describedby
        self.title = title
        self.type = type
        self.hreflang = hreflang
        self.meta = meta
    }

    init?(reading json: JSONObject) {
        guard let href = json["href"]?.string else { return nil }
        let languages = json["hreflang"]
        self.init(
            href: href, rel: json["rel"]?.string, describedby: json["describedby"]?.string ?? json["describedby"]?["href"]?.string,
            title: json["title"]?.string, type: json["type"]?.string,
            hreflang: languages?.array?.compactMap(\.string) ?? languages?.string.map { [$0] } ?? [], meta: json["meta"]?.object)
    }

    var json: JSONObject {
        var json: JSONObject = ["href": .string(href)]
        if let rel { json["rel"] = .string(rel) }
        if let describedby { json["describedby"] = .string(describedby) }
        if let title { json["title"] = .string(title) }
        if let type { json["type"] = .string(type) }
        if let language = hreflang.first {
            json["hreflang"] = hreflang.count == 1 ? .string(language) : .array(hreflang.map(JSONValue.string))
        }
        if let meta { json["meta"] = .object(meta) }
        return json
    }
}
