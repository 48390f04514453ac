package import FeathersCore
import FeathersNetworking
package import FeathersSupport
package import Foundation

/// The base URL, validated once and stored as text without trailing slashes.
package struct RESTBaseURL: Sendable {
    /// The server; nil if the URL does not have one.
    package let origin: Origin?
    private let checked: Result<String, FeathersError>

    package init(_ url: URL) {
        let absolute = url.absoluteURL
        origin = Origin(absolute)
        guard absolute.isRequestable else {
            checked = .failure(
                .refused(
                    """
                    The base URL must be an http or https URL with a host, such as 'http://localhost:3030', not \
                    '\(url.withoutCredentials)'
                    """))
            return
        }
        guard absolute.query == nil, absolute.fragment == nil else {
            checked = .failure(
                .refused("The base URL of \(absolute.hostAndPort ?? "") must not have a query or a fragment"))
            return
        }
        var text = absolute.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        checked = .success(text)
    }

    /// - Throws: ``FeathersError/Code/badRequest`` if the base URL is invalid. Each call throws it, because an app's
    ///   `init` does not throw.
    package func text() throws(FeathersError) -> String { try checked.get() }
}

/// Writes paths in which every part stays within its segment. Empty segments, `.`, and `..` are refused rather than
/// encoded: under RFC 3986 (6.2.2.2), `%2E` means `.`, so any client, proxy, or server along the route may still turn
/// `users/%2E%2E` into another resource.
package enum RESTPath {
    /// Appends a service's path, with its `:placeholders` filled from `route`.
    ///
    /// Only characters that a path cannot contain are percent-encoded, once, as in FeathersJS' client: its servers see
    /// the path without decoding it.
    package static func append(service path: String, route: [String: String], to text: inout String)
        throws(FeathersError)
    {
        try append(path, to: &text) { (name) throws(FeathersError) in
            try RouteValue.segment(of: name, in: route, path: path).encodedForPath
        }
    }

    /// Appends an endpoint's path, with its `:placeholders` filled from `route`. Values are encoded as ids are, with
    /// their slashes.
    package static func append(endpoint path: String, route: [String: String], to text: inout String)
        throws(FeathersError)
    {
        try append(path, to: &text) { (name) throws(FeathersError) in
            let value = try RouteValue.value(of: name, in: route, path: path)
            try refuseIfItMovesThePath(value, "The value of ':\(name)' in params.route")
            return percentEncoded(component: value)
        }
    }

    private static func append(
        _ path: String, to text: inout String, _ encodedValue: (_ name: String) throws(FeathersError) -> String
    ) throws(FeathersError) {
        var wasEmpty = true
        // Splits by bytes, as servers do. To Swift, a slash and a following combining mark are a single character.
        for bytes in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: true) {
            wasEmpty = false
            if let name = RouteValue.placeholder(Substring(bytes)) {
                text += "/" + (try encodedValue(name))
            } else {
                let segment = String(Substring(bytes))
                try refuseIfItMovesThePath(segment.withPlainDots, "A segment of the path '\(path)'")
                text += "/"
                text += segment.addingEncodingWhereNeeded()
            }
        }
        if wasEmpty { throw .refused("The service's path is empty") }
    }

    package static func append(_ id: ServiceID, to text: inout String) throws(FeathersError) {
        if case .number(let number) = id, !number.isFinite { throw .refused("The id is not a finite number") }
        let id = id.description
        try refuseIfItMovesThePath(id, "The id")
        text += "/"
        text += percentEncoded(component: id)
    }

    private static func refuseIfItMovesThePath(_ segment: String, _ what: @autoclosure () -> String)
        throws(FeathersError)
    {
        switch segment {
        case "": throw .refused("\(what()) is empty, which a URL cannot contain")
        case ".", "..":
            throw .refused("\(what()) is '\(segment)', which a URL cannot contain: it refers to another path")
        default: return
        }
    }
}

extension String {
    /// The text with `%2E` decoded to dots, because servers that decode a path before reading it treat both alike.
    fileprivate var withPlainDots: String {
        utf8.contains(UInt8(ascii: "%")) ? replacing("%2e", with: ".").replacing("%2E", with: ".") : self
    }

    /// The text as a path segment. Every character that a segment cannot contain is percent-encoded, with `%` itself.
    fileprivate var encodedForPath: String {
        if utf8.allSatisfy(\.standsInPath) { return self }
        return unicodeScalars.map { scalar in
            scalar.isASCII && UInt8(ascii: scalar).standsInPath
                ? String(scalar) : percentEncoded(component: String(scalar))
        }.joined()
    }

    /// Returns a path segment with invalid characters percent-encoded. Existing escapes are kept.
    fileprivate func addingEncodingWhereNeeded() -> String {
        if utf8.allSatisfy(\.standsInPath) { return self }
        let scalars = Array(unicodeScalars)
        var text = ""
        for (index, scalar) in scalars.enumerated() {
            let isEscape =
                scalar == "%" && scalars[index...].dropFirst().prefix(2).count(where: \.properties.isASCIIHexDigit) == 2
            let isKept = isEscape || scalar.isASCII && UInt8(ascii: scalar).standsInPath
            text += isKept ? String(scalar) : percentEncoded(component: String(scalar))
        }
        return text
    }
}

extension UInt8 {
    /// Whether the byte may appear in a path: `pchar` of RFC 3986, without escapes.
    fileprivate var standsInPath: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~!$&'()*+,;=:@".utf8.contains(self)
        }
    }
}
