import FeathersNetworking
import FeathersSupport
import Foundation

/// The cookies of one polling session: those that the server, or a load balancer in front of it, has set.
///
/// All requests of a session have the same URL, except for its query, and follow no redirects. So there are no domains
/// and paths to compare, and cookies of one session never reach another.
final class SessionCookies: Sendable {
    /// A response may set any number. RFC 6265 expects clients to keep at least 50 for a domain, of 4,096 bytes each.
    private static let maximumCount = 50
    private static let maximumBytes = 4096

    private let cookies = Locked<[(name: String, value: String)]>([])

    /// Takes the cookies of a response.
    func take(from response: HTTPResponse, at now: Date = Date()) {
        let fields = response.headers.filter { $0.name.lowercased() == "set-cookie" }
        let texts = fields.flatMap { Self.divided($0.value) }
        guard !texts.isEmpty else { return }
        let changes = texts.compactMap { Self.cookie($0, at: now) }
        cookies.withLock { cookies in
            for change in changes {
                cookies.removeAll { $0.name == change.name }
                guard let value = change.value, cookies.count < Self.maximumCount else { continue }
                cookies.append((change.name, value))
            }
        }
    }

    /// Adds the cookies to a request's header fields, after those that the app has set.
    func add(to headers: inout HTTPHeaders) throws {
        let text = cookies.withLock { $0.map { "\($0.name)=\($0.value)" }.joined(separator: "; ") }
        guard !text.isEmpty else { return }
        try headers.set("Cookie", to: headers["Cookie"].map { "\($0); \(text)" } ?? text)
    }

    /// Returns the name and the value of a cookie; the value is nil if the cookie has expired. Returns nil if the text
    /// isn't a cookie that can be sent back.
    private static func cookie(_ text: String, at now: Date) -> (name: String, value: String?)? {
        var parts = text.split(separator: ";", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let pair = parts.removeFirst()
        guard let equals = pair.firstIndex(of: "="), text.utf8.count <= maximumBytes else { return nil }
        let name = pair[..<equals].trimmingCharacters(in: .whitespaces)
        let value = pair[pair.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        guard !name.isEmpty, HTTPFieldSyntax.isFieldValue(name + value) else { return nil }
        var lifetime: Int64?
        for part in parts {
            let words = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard words.count == 2 else { continue }
            switch words[0].lowercased() {
            // Takes precedence over a date.
            case "max-age": lifetime = Int64(words[1]) ?? lifetime
            case "expires" where lifetime == nil:
                lifetime = HTTPDate(words[1]).map { $0.secondsSince1970 - Int64(now.timeIntervalSince1970) }
            default: break
            }
        }
        return (name, lifetime.map { $0 <= 0 } == true ? nil : value)
    }

    /// Divides a field in which a client has joined several with commas, as `URLSession` does. A comma divides if a
    /// name and an equals sign follow; the comma in a date is followed by a day.
    private static func divided(_ text: String) -> [String] {
        var texts: [String] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = part.prefix { $0 != "=" && $0 != ";" }
            let isStart = name.endIndex < part.endIndex && part[name.endIndex] == "="
            if isStart || texts.isEmpty {
                texts.append(String(part))
            } else {
                texts[texts.count - 1] += "," + part
            }
        }
        return texts
    }
}
