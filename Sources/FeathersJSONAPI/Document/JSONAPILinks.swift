public import FeathersCore
public import Foundation

/// The links of a document, a resource, a relationship or an error.
public struct JSONAPILinks: Hashable, Sendable {
    /// The links as they stand in the document.
    public var json: JSONObject

    /// Links by their names, as they stand in a document.
    public init(_ json: JSONObject = [:]) {
        self.json = json
    }

    /// Whether there is none.
    public var isEmpty: Bool { json.isEmpty }

    /// A link by its name; nil where there is none, or where what stands there is no link.
    public subscript(name: String) -> JSONAPILink? {
        get { json[name].flatMap(JSONAPILink.init(reading:)) }
        set { json[name] = newValue?.json }
    }

    /// Where a link leads; nil where there is no such link, where it is null, and where it is no URL.
    /// - Parameters:
    ///   - name: the link's name: `self`, `related`, `next` …
    ///   - base: the URL of the request that was answered with it: a link may be relative.
    public func url(_ name: String, relativeTo base: URL? = nil) -> URL? {
        // Foundation reads an empty text as no URL, RFC 3986 as the base itself.
        guard let href = self[name]?.href else { return nil }
        if href.isEmpty { return base?.absoluteURL }
        return URL(link: href, relativeTo: base)
    }
}

/// A link: the text of a URL, an object that says more of it, or null where the server says that there is none.
public enum JSONAPILink: Hashable, Sendable {
    case null
    case href(String)
    case object(JSONAPILinkObject)

    /// Where the link leads, as it stands in the document.
    public var href: String? {
        switch self {
        case .null: nil
        case .href(let href): href
        case .object(let object): object.href
        }
    }

    init?(reading json: JSONValue) {
        switch json {
        case .null: self = .null
        case .string(let href): self = .href(href)
        case .object(let object):
            guard let link = JSONAPILinkObject(reading: object) else { return nil }
            self = .object(link)
        default: return nil
        }
    }

    /// The link as it stands in a document.
    public var json: JSONValue {
        switch self {
        case .null: .null
        case .href(let href): .string(href)
        case .object(let object): .object(object.json)
        }
    }
}
