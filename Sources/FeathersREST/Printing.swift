import FeathersNetworking
public import FeathersSupport
import Foundation

// The text of printed or dumped transports, endpoints, and responses: the server they use and the names of header fields.

extension RESTTransport: SecretHiding, Summarized {
    package var summary: String { "RESTTransport(\(builder.base))" }
}

extension RESTBaseURL: SecretHiding, Summarized {
    package var summary: String { (try? text()).flatMap { URL(string: $0) }?.withoutCredentials ?? "an unusable URL" }
}

extension Endpoint: SecretHiding, Summarized {
    package var summary: String {
        let place = EndpointAddress.name(of: path).prefix { $0 != "?" && $0 != "#" }
        return "\(Self.self)(\(method) \(place), headers: [\(headers.keys.sorted().joined(separator: ", "))])"
    }
}

extension EndpointResponse: SecretHiding, Summarized {
    package var summary: String { "\(Self.self)(\(status) \(url.withoutCredentials), headers: \(headers))" }
}

extension HTTPHead: SecretHiding, Summarized {
    package var summary: String { "HTTPHead(\(status) \(url.withoutCredentials), headers: \(headers))" }
}

extension MultipartPart: SecretHiding {}
