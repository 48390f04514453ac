package import FeathersCore
package import Foundation

/// The app's address, checked once and kept as text without trailing slashes.
package struct RESTBaseURL: Sendable {
    private let checked: Result<String, FeathersError>

    package init(_ url: URL) {
        let absolute = url.absoluteURL
        guard absolute.isRequestable else {
            checked = .failure(.refused("The base URL must be an http or https URL with a host, not '\(url.withoutCredentials)'"))
            return
        }
        guard absolute.query == nil, absolute.fragment == nil else {
            checked = .failure(.refused("The base URL of \(absolute.hostAndPort ?? "") must have neither query nor fragment"))
            return
        }
        var text = absolute.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        checked = .success(text)
    }

    /// - Throws: ``FeathersError/Code/badRequest`` where the base URL cannot be requested. It is told by each call, since `init` of an app does not throw.
    package func text() throws(FeathersError) -> String {
        try checked.get()
    }
}
