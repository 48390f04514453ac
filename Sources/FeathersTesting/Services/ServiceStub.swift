public import FeathersCore
public import Foundation

/// A stub for calls of services.
public typealias ServiceStub = Stub<ServiceRequest, JSONValue>

extension Stub where Request == ServiceRequest, Response == JSONValue {
    /// Answers with a value.
    public static func value(_ value: JSONValue) -> Self { Self { _ in value } }

    /// Answers with a model; a model that cannot be encoded fails the call.
    public static func encoding(_ model: some Encodable & Sendable, coding: CodingOptions = CodingOptions()) -> Self {
        Self { _ in try coding.encode(model) }
    }

    /// Answers with the JSON of a file, read for every call.
    ///
    /// A file that does not exist, or holds no JSON, fails the call with an error that names it.
    public static func file(_ url: URL) -> Self { Self { _ in try StubFile(url: url).json() } }

    /// Answers as a service would.
    public static func service(_ service: any ServiceProtocol) -> Self { Self { try await service.respond(to: $0).result } }

    /// Answers as services would, by path; any other path is ``FeathersError/Code/notFound``.
    static func services(_ services: [String: any ServiceProtocol]) -> Self {
        Self { request in
            guard let service = services[request.path] else { throw FeathersError(.notFound, "Service '\(request.path)' not found") }
            return try await service.respond(to: request).result
        }
    }

    /// Hands calls to another transport.
    static func passing(to transport: any Transport) -> Self { Self { try await transport.send($0).result } }

    /// Refuses what nothing is registered for.
    static var strict: Self {
        Self { request in
            throw FeathersError(.notImplemented, "No stub answers '\(request.method)' of service '\(request.path)'", execution: .neverSent)
        }
    }
}

extension StubSelector where Request == ServiceRequest {
    /// Calls of a service, of a method, or of both.
    static func calls(of path: String?, _ method: ServiceMethod?) -> StubSelector {
        StubSelector(identity: [path, method?.rawValue], rank: (path == nil ? 0 : 2) + (method == nil ? 0 : 1)) { request in
            (path == nil || path == request.path) && (method == nil || method == request.method)
        }
    }
}

extension StubHost where Request == ServiceRequest, Response == JSONValue {
    /// Answers the calls of a service with a stub: those of a method, or of every method that has no stub of its own.
    ///
    /// The path's placeholders are unfilled, and slashes at both ends do not count.
    @discardableResult
    public func stub(_ path: String, _ method: ServiceMethod? = nil, with stub: ServiceStub) -> StubRegistration {
        book.change { $0.add(stub, for: .calls(of: FeathersApp.stripSlashes(path), method)) }
    }

    /// Answers the calls of a method with a stub, whatever the service.
    @discardableResult
    public func stub(_ method: ServiceMethod, with stub: ServiceStub) -> StubRegistration {
        book.change { $0.add(stub, for: .calls(of: nil, method)) }
    }

    /// Takes back the stub that was registered for exactly this.
    public func removeStub(_ path: String, _ method: ServiceMethod? = nil) {
        book.change { $0.remove(sameAs: .calls(of: FeathersApp.stripSlashes(path), method)) }
    }

    /// The calls of a service, or of one of its methods, that have come so far.
    public func calls(of path: String, _ method: ServiceMethod? = nil) -> [RecordedCall<ServiceRequest, JSONValue>] {
        let selector = StubSelector<ServiceRequest>.calls(of: FeathersApp.stripSlashes(path), method)
        return book.calls.filter { selector.matches($0.request) }
    }
}
