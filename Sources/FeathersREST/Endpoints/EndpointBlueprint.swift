import FeathersCore
import FeathersNetworking
import Foundation

/// All of an endpoint but the type of its response: what the way to the server needs.
struct EndpointBlueprint: Sendable {
    let method: HTTPMethod
    let path: String
    let baseURL: URL?
    let queryItems: [URLQueryItem]
    let headers: [String: String]
    let body: EndpointBody?
    let credentials: EndpointCredentials
    let validate: (@Sendable (HTTPResponse) throws -> Void)?
    let kind: EndpointAnswerKind

    init(_ endpoint: Endpoint<some Any>) {
        method = endpoint.method
        path = endpoint.path
        baseURL = endpoint.baseURL
        queryItems = endpoint.queryItems
        headers = endpoint.headers
        body = endpoint.body
        credentials = endpoint.credentials
        validate = endpoint.validate
        kind = endpoint.reading.kind
    }
}
