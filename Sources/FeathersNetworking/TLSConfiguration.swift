public import Foundation

/// How secure connections are made where libcurl makes them: ``CurlHTTPClient`` and the WebSocket on Linux.
///
/// The default trusts what the system trusts, and checks that the certificate is for the host that was asked for. TLS 1.2 is the least.
public struct TLSConfiguration: Hashable, Sendable {
    /// Which authorities may vouch for a server.
    public enum Trust: Hashable, Sendable {
        /// The system's.
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
        /// Nothing: anyone on the way can read and change everything, tokens included.
        case dangerouslyOff
    }

    /// Whose certificates are believed.
    public var trust: Trust
    /// What is checked of a server's certificate.
    public var verification: Verification

    /// A configuration; the parameters are the properties of the same names.
    public init(trust: Trust = .system, verification: Verification = .full) {
        self.trust = trust
        self.verification = verification
    }
}
