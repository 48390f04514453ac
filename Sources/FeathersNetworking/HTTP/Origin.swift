package import Foundation

/// Scheme, host and port: decides whether credentials may be sent along.
package struct Origin: Equatable {
    var scheme: String
    var host: String
    var port: Int?
}

extension URL {
    package var origin: Origin {
        let scheme = scheme?.lowercased() ?? ""
        let standard = scheme == "https" ? 443 : scheme == "http" ? 80 : nil
        return Origin(scheme: scheme, host: host?.lowercased() ?? "", port: port ?? standard)
    }

    /// Whether an HTTP client can request this: `http` or `https`, and a host.
    package var isRequestable: Bool {
        guard let scheme = scheme?.lowercased(), scheme == "http" || scheme == "https" else { return false }
        guard let host, !host.isEmpty else { return false }
        // libcurl and CFNetwork refuse other ports without a useful message.
        return port.map { (1...65535).contains($0) } ?? true
    }

    /// The address without name and password, for messages.
    package var withoutCredentials: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return "\(scheme ?? ""):…" }
        (components.user, components.password) = (nil, nil)
        return components.string ?? "\(scheme ?? ""):…"
    }

    /// The host and its explicit port, for messages.
    package var hostAndPort: String? {
        guard let host else { return nil }
        return port.map { "\(host):\($0)" } ?? host
    }
}
