public import FeathersCore
public import FeathersNetworking
public import Foundation

/// A stub for HTTP requests.
public typealias HTTPStub = Stub<HTTPRequest, HTTPResponse>

extension Stub where Request == HTTPRequest, Response == HTTPResponse {
    /// Answers with a status alone.
    public static func status(_ status: Int, headers: [String: String] = [:]) -> Self {
        .bytes([], status: status, headers: headers)
    }

    /// Answers with bytes.
    public static func bytes(_ bytes: [UInt8], status: Int = 200, headers: [String: String] = [:]) -> Self {
        Self { .answer(to: $0, status, headers, type: nil) { bytes } }
    }

    /// Answers with JSON, as `application/json` unless the header fields say otherwise.
    public static func json(_ json: JSONValue, status: Int = 200, headers: [String: String] = [:]) -> Self {
        Self { try .answer(to: $0, status, headers, type: Self.jsonType) { try json.serialized() } }
    }

    /// Answers with a model as JSON, as ``json(_:status:headers:)`` does; a model that cannot be encoded fails the request.
    public static func encoding(
        _ model: some Encodable & Sendable, coding: CodingOptions = CodingOptions(), status: Int = 200, headers: [String: String] = [:]
    ) -> Self { Self { try .answer(to: $0, status, headers, type: Self.jsonType) { try coding.encode(model).serialized() } } }

    /// Answers with a file, read for every request; `application/json` where its name ends so.
    ///
    /// A file that does not exist fails the request with an error that names it.
    public static func file(_ url: URL, status: Int = 200, headers: [String: String] = [:]) -> Self {
        let type = url.pathExtension.lowercased() == "json" ? jsonType : nil
        return Self { try .answer(to: $0, status, headers, type: type) { try StubFile(url: url).bytes() } }
    }

    /// Answers with an error as a FeathersJS server writes it: its code as the status, its JSON as the body.
    public static func refusal(_ error: FeathersError, headers: [String: String] = [:]) -> Self {
        .json(error.wireForm, status: error.code.rawValue, headers: headers)
    }

    /// Hands requests to another client.
    static func passing(to client: any HTTPClient) -> Self { Self { try await client.execute($0) } }

    /// Refuses what nothing is registered for.
    static var strict: Self {
        Self { request in
            throw HTTPClientError(
                .other, "No stub answers \(request.method) \(request.url.path())", host: request.url.hostAndPort, delivery: .neverSent)
        }
    }

    private static var jsonType: String { "application/json" }
}

extension HTTPResponse {
    fileprivate static func answer(
        to request: HTTPRequest, _ status: Int, _ headers: [String: String], type: String?, _ body: () throws -> [UInt8]
    ) rethrows -> HTTPResponse {
        var fields = headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        if let type, !fields.contains(where: { $0.name.lowercased() == "content-type" }) { fields.append(("Content-Type", type)) }
        return HTTPResponse(status: status, headers: HTTPHeaders(received: fields), body: try body(), url: request.url)
    }
}

extension StubHost where Request == HTTPRequest, Response == HTTPResponse {
    /// Answers requests with a stub: those of a method, or of every method that has no stub of its own.
    ///
    /// The location is a path (`/messages`) or a URL (`https://example.com/messages`), percent-encoded, with any query unless it has one.
    @discardableResult
    public func stub(_ location: String, _ method: String? = nil, with stub: HTTPStub) -> StubRegistration {
        book.change { $0.add(stub, for: .requests(to: location, method)) }
    }

    /// Answers the requests of a method with a stub, wherever they go.
    @discardableResult
    public func stub(method: String, with stub: HTTPStub) -> StubRegistration {
        book.change { $0.add(stub, for: .requests(to: nil, method)) }
    }

    /// Takes back the stub that was registered for exactly this.
    public func removeStub(_ location: String, _ method: String? = nil) {
        book.change { $0.remove(sameAs: .requests(to: location, method)) }
    }

    /// The requests to a location, or those of one method, that have come so far.
    public func calls(to location: String, _ method: String? = nil) -> [RecordedCall<HTTPRequest, HTTPResponse>] {
        let selector = StubSelector<HTTPRequest>.requests(to: location, method)
        return book.calls.filter { selector.matches($0.request) }
    }
}
