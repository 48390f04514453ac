import FeathersNetworking
public import FeathersSupport
import Foundation

// The text of printed or dumped transports, endpoints, and responses: the server they use and the names of header
// fields.

extension RESTTransport: SecretHiding {
    public var description: String { "RESTTransport(\(builder.base))" }
}

extension RESTBaseURL: SecretHiding {
    public var description: String {
        (try? text()).flatMap { URL(string: $0) }?.withoutCredentials ?? "an unusable URL"
    }
}

extension Endpoint: SecretHiding {
    public var description: String {
        let place = EndpointAddress.name(of: path).prefix { $0 != "?" && $0 != "#" }
        return "\(Self.self)(\(method) \(place), headers: [\(headers.keys.sorted().joined(separator: ", "))])"
    }
}

extension EndpointResponse: SecretHiding {
    public var description: String { "\(Self.self)(\(status) \(url.withoutCredentials), headers: \(headers))" }
}

extension HTTPHead: SecretHiding {
    public var description: String { "HTTPHead(\(status) \(url.withoutCredentials), headers: \(headers))" }
}

extension MultipartPart: SecretHiding {}
