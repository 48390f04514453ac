public import Foundation

/// The settings for secure connections that libcurl makes: ``CurlHTTPClient`` and the WebSocket on Linux.
///
/// The default trusts the system's certificate authorities and verifies that the certificate matches the host. The
/// minimum is TLS 1.2.
public struct TLSConfiguration: Hashable, Sendable {
    /// The certificate authorities to trust.
    public enum Trust: Hashable, Sendable {
        /// The system's certificate authorities.
        case system
        /// Only the certificate authorities in a PEM file.
        case certificates(in: URL)
    }

    /// The checks made before a connection is used.
    public enum Verification: Hashable, Sendable {
        /// Verifies the certificate, and that it was issued for this host.
        case full
        /// Verifies the certificate only. Any server with a trusted certificate can pose as this one.
        case dangerouslyIgnoringHostName
        /// Verifies nothing. Anyone on the network path can read and change all data, including tokens.
        case dangerouslyOff
    }

    let trust: Trust
    let verification: Verification

    /// Creates a configuration. Every setting has a default.
    public init(trust: Trust = .system, verification: Verification = .full) {
        self.trust = trust
        self.verification = verification
    }
}

/// The proxy for connections that libcurl makes.
public enum NetworkProxy: Hashable, Sendable {
    /// The proxy set by `http_proxy`, `https_proxy`, `all_proxy`, and `no_proxy` in the environment, as libcurl
    /// interprets them.
    case environment
    /// No proxy, regardless of the environment.
    case none
    /// A specific proxy, regardless of the environment: `http://host:port`, or `https`, `socks5`, or `socks5h`, which
    /// may include credentials. `exceptions` lists the hosts or domains to reach directly.
    case url(String, exceptions: [String] = [])
}
