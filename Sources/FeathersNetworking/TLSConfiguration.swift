public import Foundation

/// How secure connections are made where libcurl makes them: ``CurlHTTPClient`` and the WebSocket on Linux.
///
/// The default trusts what the system trusts, and checks that the certificate is for the host that was asked for. The minimum is TLS 1.2.
public struct TLSConfiguration: Hashable, Sendable {
    /// Which certificate authorities are trusted.
    public enum Trust: Hashable, Sendable {
        /// Those of the system.
        case system
        /// Those in a PEM file, and no others.
        case certificates(in: URL)
    }

    /// What is checked before a connection is used.
    public enum Verification: Hashable, Sendable {
        /// The certificate and that it is for this host.
        case full
        /// The certificate only: any server with a trusted certificate can pose as this one.
        case dangerouslyIgnoringHostName
        /// Nothing: anyone on the network path can read and change everything, tokens included.
        case dangerouslyOff
    }

    let trust: Trust
    let verification: Verification

    /// Creates a configuration; every setting has a default.
    public init(trust: Trust = .system, verification: Verification = .full) {
        self.trust = trust
        self.verification = verification
    }
}

/// Which proxy connections go through where libcurl makes them.
public enum NetworkProxy: Hashable, Sendable {
    /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` in the environment say, as libcurl reads them.
    case environment
    /// No proxy, whatever the environment says.
    case none
    /// This one, whatever the environment says: `http://host:port`, also `https`, `socks5` or `socks5h`, credentials included.
    /// `exceptions` are hosts or domains that are reached directly.
    case url(String, exceptions: [String] = [])
}
