public import FeathersCore
public import FeathersNetworking
public import Foundation

/// A stub for HTTP requests.
public typealias HTTPStub = Stub<HTTPRequest, HTTPResponse>

extension Stub where Request == HTTPRequest, Response == HTTPResponse {
    /// Responds with only a status.
    public static func status(_ status: Int, headers: [String: String] = [:]) -> Self {
        .bytes([], status: status, headers: headers)
    }

    /// Responds with bytes.
    public static func bytes(_ bytes: [UInt8], status: Int = 200, headers: [String: String] = [:]) -> Self {
        Self { .answer(to: $0, status, headers, type: nil) { bytes } }
    }

    /// Responds with JSON, as `application/json` unless the header fields set another content type.
    public static func json(_ json: JSONValue, status: Int = 200, headers: [String: String] = [:]) -> Self {
        Self { try .answer(to: $0, status, headers, type: Self.jsonType) { try json.serialized() } }
    }

    /// Responds with a model as JSON, like ``json(_:status:headers:)``. A model that cannot be encoded makes the
    /// request fail.
    public static func encoding(
        _ model: some Encodable & Sendable, coding: CodingOptions = CodingOptions(), status: Int = 200,
        headers: [String: String] = [:]
    ) -> Self {
        Self { try .answer(to: $0, status, headers, type: Self.jsonType) { try coding.encode(model).serialized() } }
    }

    /// Responds with the contents of a file, read for every request; as `application/json` if its filename extension
    /// says so.
    ///
    /// If the file does not exist, the request fails with an error that names it.
    public static func file(_ url: URL, status: Int = 200, headers: [String: String] = [:]) -> Self {
        let type = url.pathExtension.lowercased() == "json" ? jsonType : nil
        return Self { try .answer(to: $0, status, headers, type: type) { try StubFile(url: url).bytes() } }
    }

    /// Responds with an error as a FeathersJS server writes it: its code as the status, its JSON as the body.
    public static func refusal(_ error: FeathersError, headers: [String: String] = [:]) -> Self {
        .json(error.wireForm, status: error.code.rawValue, headers: headers)
    }

    /// Passes requests on to another client.
    static func passing(to client: any HTTPClient) -> Self { Self { try await client.execute($0) } }

    /// Refuses requests without a registered stub.
    static var strict: Self {
        Self { request in
            throw HTTPClientError(
                .other, "No stub for \(request.method) \(request.url.path())", host: request.url.hostAndPort,
                delivery: .neverSent)
        }
    }

    private static var jsonType: String { "application/json" }
}

extension HTTPResponse {
    fileprivate static func answer(
        to request: HTTPRequest, _ status: Int, _ headers: [String: String], type: String?, _ body: () throws -> [UInt8]
    ) rethrows -> HTTPResponse {
        var fields = headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        if let type, !fields.contains(where: { $0.name.lowercased() == "content-type" }) {
            fields.append(("Content-Type", type))
        }
        return HTTPResponse(status: status, headers: HTTPHeaders(received: fields), body: try body(), url: request.url)
    }
}

extension StubHost where Request == HTTPRequest, Response == HTTPResponse {
    /// Registers a stub for requests with a method, or for requests with any method that has no stub of its own.
    ///
    /// The location is a percent-encoded path (`/messages`) or URL (`https://example.com/messages`). Without a query,
    /// it matches any query.
    @discardableResult
    public func stub(_ location: String, _ method: String? = nil, with stub: HTTPStub) -> StubRegistration {
        registry.change { $0.add(stub, for: .requests(to: location, method)) }
    }

    /// Registers a stub for all requests with a method, regardless of their location.
    @discardableResult
    public func stub(method: String, with stub: HTTPStub) -> StubRegistration {
        registry.change { $0.add(stub, for: .requests(to: nil, method)) }
    }

    /// Removes the stub registered for exactly this location and method.
    public func removeStub(_ location: String, _ method: String? = nil) {
        registry.change { $0.remove(sameAs: .requests(to: location, method)) }
    }

    /// Returns the requests received so far for a location, or for one of its methods.
    public func calls(to location: String, _ method: String? = nil) -> [RecordedCall<HTTPRequest, HTTPResponse>] {
        let selector = StubSelector<HTTPRequest>.requests(to: location, method)
        return registry.calls.filter { selector.matches($0.request) }
    }
}
