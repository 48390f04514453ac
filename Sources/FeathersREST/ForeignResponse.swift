package import FeathersCore
package import FeathersNetworking
import FeathersSupport
package import Foundation

/// Responses that the server did not send, such as the pages of a captive portal. They say nothing about the call: the
/// portal may have kept the request to itself, or the server's response.
extension HTTPResponse {
    /// Returns the error of a response that is not the server's.
    package func foreignError(_ message: String, cause: (any Error)? = nil) -> FeathersError {
        var error = FeathersError(.unavailable, message, execution: .mayHaveExecuted, cause: cause)
        error.response = FeathersError.Response(status: status, body: body)
        error.advice = foreignHint
        return error
    }

    /// Returns the error of a response that says nothing about the call, although it isn't a redirect: one without JSON
    /// from another host, to which the request was redirected, or a refusal by a server that did not get the token. Nil
    /// for any other response, such as a 204, which has no page. A proxy's error remains what it is.
    /// - Parameters:
    ///   - url: The URL of the request, before redirects.
    ///   - signsIn: Whether the call signs in, so that every status from 401 to 407 refuses the user.
    package func otherHostError(requestedAt url: URL, signsIn: Bool = false) -> FeathersError? {
        if [401, 402, 403, 407].contains(status) || (signsIn && (401...407).contains(status)),
            let error = refusalWithoutFields(requestedAt: url)
        {
            return error
        }
        guard let host = url.host(), let actual = self.url.host(), host.lowercased() != actual.lowercased(),
            ![204, 304, 502, 503, 504].contains(status), !isEventStream, (try? JSONValue(parsing: jsonText)) == nil
        else { return nil }
        return foreignError(
            "The server redirected from \(host) to \(actual), which returned status \(status) without JSON")
    }

    /// Returns the error of a response from a server that did not get the token or any other field that identifies the
    /// sender, because of a redirect; nil for any other response. Only a server that got them says anything about them
    /// or the user.
    /// - Parameter url: The URL of the request, before redirects.
    func refusalWithoutFields(requestedAt url: URL) -> FeathersError? {
        guard let origin = Origin(url), let actual = Origin(self.url), hasLostFields || origin != actual else {
            return nil
        }
        let path = origin == actual ? "through another origin back to \(actual)" : "to \(actual)"
        return foreignError(
            "The server \(origin) redirected \(path), which did not get the token and responded with status \(status)")
    }

    /// Whether the status is one that networks send in the server's place, unless the body is the server's: a redirect
    /// that was not followed, or 511, "Network Authentication Required".
    package var isNetworksOwn: Bool { redirects || status == 511 }

    /// Whether the response is a redirect. If it was not followed, it says nothing about the call, whatever its body.
    package var redirects: Bool { [301, 302, 303, 307, 308].contains(status) }

    /// Whether the response is a web page, by its type, or without one by its first character.
    var isPage: Bool {
        if let type = headers["Content-Type"] {
            return MediaType(type)?.isAccepted(by: "text/html, application/xhtml+xml") ?? false
        }
        return jsonText.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
    }

    /// Where a response comes from if the server did not send it.
    var foreignHint: String {
        let place = url.withoutCredentials
        return isPage ? "a web page from \(place): the network may require a sign-in in a browser" : "from \(place)"
    }
}
