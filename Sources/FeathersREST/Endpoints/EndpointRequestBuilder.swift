import FeathersCore
import FeathersNetworking
import Foundation

/// Turns a call of an endpoint, as the hooks left it, into an HTTP request and its body.
struct EndpointRequestBuilder {
    let endpoint: EndpointBlueprint
    let transport: RESTRequestBuilder

    func url(for params: Params) throws -> URL {
        let address = try address(for: params).text
        let text = address + (try query(of: params, behind: address.contains("?")))
        guard let url = URL(string: text), url.absoluteString == text else {
            throw FeathersError.refused("The path '\(EndpointAddress.name(of: endpoint.path))' does not make a valid URL")
        }
        return url
    }

    /// Whether what the app and its hooks add to the header may go there.
    func carriesCredentials(for params: Params) throws -> Bool {
        switch endpoint.credentials {
        case .include: true
        case .omit: false
        case .sameOrigin: try address(for: params).isHome
        }
    }

    /// The request without its body, and the body.
    func request(data: JSONValue?, params: Params) throws -> (HTTPRequest, HTTPBody?) {
        let (body, contentType) = try body(data)
        let url = try url(for: params)
        let carriesCredentials = try carriesCredentials(for: params)
        var headers = HTTPHeaders()
        do {
            try headers.set("Accept", to: endpoint.kind.accept)
            if carriesCredentials { try headers.merge(transport.headers) }
            if let contentType { try headers.set("Content-Type", to: contentType.rawValue) }
            try headers.merge(carriesCredentials ? params.headers : endpoint.headers)
        } catch {
            throw FeathersError(error)
        }
        return (HTTPRequest(method: endpoint.method.rawValue, url: url, headers: headers, timeout: params.timeout), body)
    }

    private func address(for params: Params) throws(FeathersError) -> EndpointAddress {
        try EndpointAddress(endpoint, route: params.route, base: transport.base)
    }

    private func query(of params: Params, behind hasQuery: Bool) throws -> String {
        var parts: [String] = []
        if !params.query.isEmpty { parts.append(try params.query.queryString(transport.queryOptions)) }
        if !endpoint.queryItems.isEmpty { parts.append(endpoint.queryItems.formEncoded) }
        let text = parts.filter { !$0.isEmpty }.joined(separator: "&")
        if text.isEmpty { return "" }
        return (hasQuery ? "&" : "?") + text
    }

    private func body(_ data: JSONValue?) throws -> (HTTPBody?, HTTPContentType?) {
        switch endpoint.body?.content {
        case .other(let make):
            let (body, contentType) = try make()
            return (body, contentType)
        case .json, nil:
            guard let data else { return (nil, nil) }
            do {
                return (HTTPBody(try data.serialized()), .json)
            } catch {
                throw FeathersError.refused("The body cannot be written as JSON: \(error)")
            }
        }
    }
}
