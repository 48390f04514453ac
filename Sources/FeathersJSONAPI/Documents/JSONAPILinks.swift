public import FeathersCore
public import Foundation

/// The links of a document, a resource, a relationship, or an error.
public struct JSONAPILinks: Hashable, Sendable {
    /// The links as JSON.
    public var json: JSONObject

    /// Creates links from their JSON.
    public init(_ json: JSONObject = [:]) { self.json = json }
    init(reading json: JSONValue?) { self.json = json?.object ?? [:] }

    /// Whether there are no links.
    public var isEmpty: Bool { json.isEmpty }

    /// The link with a name; nil if it does not exist or its value is not a link.
    public subscript(name: String) -> JSONAPILink? {
        get { json[name].flatMap(JSONAPILink.init(reading:)) }
        set { json[name] = newValue?.json }
    }

    /// Returns the URL of a link; nil if the link does not exist, is null, or is not a URL.
    ///
    /// A link may be relative to `base`, the URL of the request whose response contains it.
    public func url(_ name: String, relativeTo base: URL? = nil) -> URL? {
        guard let href = self[name]?.href else { return nil }
        // Foundation rejects an empty string. In RFC 3986, it refers to the base.
        return href.isEmpty ? base?.absoluteURL : URL(link: href, relativeTo: base)
    }
}

extension JSONAPILinks: Codable {
    public init(from decoder: any Decoder) throws { json = try decoder.singleValueContainer().decode(JSONObject.self) }

    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

/// A link: a URL as text, an object with details, or null.
public enum JSONAPILink: Hashable, Sendable {
    case null
    case href(String)
    /// A target with details, such as `title` and `hreflang`.
    case object(JSONObject)

    /// The link's target, as written in the document.
    public var href: String? {
        switch self {
        case .null: nil
        case .href(let href): href
        case .object(let object): object["href"]?.string
        }
    }

    init?(reading json: JSONValue) {
        switch json {
        case .null: self = .null
        case .string(let href): self = .href(href)
        case .object(let object):
            guard object["href"]?.string != nil else { return nil }
            self = .object(object)
        default: return nil
        }
    }

    /// The link as JSON.
    public var json: JSONValue {
        switch self {
        case .null: .null
        case .href(let href): .string(href)
        case .object(let object): .object(object)
        }
    }
}

extension JSONObject {
    /// Creates an object of strings, leaving out those that are nil.
    init(texts: [(String, String?)]) { self.init(texts.compactMap { name, text in text.map { (name, .string($0)) } }) }
}

extension URL {
    /// Creates the URL of a link, which may be relative.
    ///
    /// Servers write `?page[number]=2` unencoded. Foundation rejects the brackets, or encodes them together with the
    /// `%` of existing escapes. This initializer encodes only the characters that a URL cannot contain, and encodes
    /// nothing twice (RFC 3986, section 2).
    init?(link: String, relativeTo base: URL?) {
        let bytes = Array(link.utf8)
        let query = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
        let digits = Array("0123456789ABCDEF".utf8)
        func isHexDigit(_ index: Int) -> Bool {
            index < bytes.count && Character(Unicode.Scalar(bytes[index])).isHexDigit
        }
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isKept =
                switch byte {
                // Before the query, brackets are valid only in an IPv6 address.
                case UInt8(ascii: "["), UInt8(ascii: "]"): index < query
                case UInt8(ascii: "%"): isHexDigit(index + 1) && isHexDigit(index + 2)
                default: MemberName.isLetterOrDigit(byte) || "-._~:/?#@!$&'()*+,;=".utf8.contains(byte)
                }
            if isKept {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        guard let url = URL(string: String(decoding: text, as: UTF8.self), relativeTo: base)?.absoluteURL else {
            return nil
        }
        self = url
    }
}
