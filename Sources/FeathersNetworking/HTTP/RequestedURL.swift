package import Foundation

extension URL {
    /// Whether an HTTP client can request this URL: it has the scheme `http` or `https`, and a host.
    package var isRequestable: Bool {
        guard let scheme = scheme?.lowercased(), scheme == "http" || scheme == "https" else { return false }
        guard let host, !host.isEmpty else { return false }
        // libcurl and CFNetwork reject other ports without a useful message.
        return port.map { (1...65535).contains($0) } ?? true
    }

    /// The address for messages, without the user, password, query, and fragment, which may be secrets.
    package var withoutCredentials: String {
        let hidden = "\(scheme ?? ""):…"
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return hidden }
        (components.user, components.password, components.query, components.fragment) = (nil, nil, nil, nil)
        // In a URL without a host, user and password are part of the path: `bob:s3cret@example.com`.
        guard components.host != nil || !components.path.contains("@") else { return hidden }
        return components.string ?? hidden
    }

    /// The host and its explicit port, for messages.
    package var hostAndPort: String? {
        guard let host else { return nil }
        return port.map { "\(host):\($0)" } ?? host
    }
}
