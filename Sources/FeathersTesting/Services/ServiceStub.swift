public import FeathersCore
public import Foundation

/// A stub for service calls.
public typealias ServiceStub = Stub<ServiceRequest, JSONValue>

extension Stub where Request == ServiceRequest, Response == JSONValue {
    /// Responds with a value.
    public static func value(_ value: JSONValue) -> Self { Self { _ in value } }

    /// Responds with a model. A model that cannot be encoded makes the call fail.
    public static func encoding(_ model: some Encodable & Sendable, coding: CodingOptions = CodingOptions()) -> Self {
        Self { _ in try coding.encode(model) }
    }

    /// Responds with the JSON in a file, read for every call.
    ///
    /// If the file does not exist or is not JSON, the call fails with an error that names it.
    public static func file(_ url: URL) -> Self { Self { _ in try StubFile(url: url).json() } }

    /// Responds with the results of a service.
    public static func service(_ service: any ServiceProtocol) -> Self {
        Self { try await service.respond(to: $0).result }
    }

    /// Responds with the results of services, by path. For any other path, the call fails with
    /// ``FeathersError/Code/notFound``.
    static func services(_ services: [String: any ServiceProtocol]) -> Self {
        Self { request in
            guard let service = services[request.path] else {
                throw FeathersError(.notFound, "Service '\(request.path)' not found")
            }
            return try await service.respond(to: request).result
        }
    }

    /// Passes calls on to another transport.
    static func passing(to transport: any Transport) -> Self { Self { try await transport.send($0).result } }

    /// Refuses calls without a registered stub.
    static var strict: Self {
        Self { request in
            throw FeathersError(
                .notImplemented, "No stub for '\(request.method)' of service '\(request.path)'", execution: .neverSent)
        }
    }
}

extension StubSelector where Request == ServiceRequest {
    /// Returns a selector for calls of a service, of a method, or both.
    static func calls(of path: String?, _ method: ServiceMethod?) -> StubSelector {
        StubSelector(identity: [path, method?.rawValue], rank: (path == nil ? 0 : 2) + (method == nil ? 0 : 1)) {
            request in
            (path == nil || path == request.path) && (method == nil || method == request.method)
        }
    }
}

extension StubHost where Request == ServiceRequest, Response == JSONValue {
    /// Registers a stub for a service's calls of a method, or of any method that has no stub of its own.
    ///
    /// Placeholders in the path are not filled in. Leading and trailing slashes are ignored.
    @discardableResult
    public func stub(_ path: String, _ method: ServiceMethod? = nil, with stub: ServiceStub) -> StubRegistration {
        registry.change { $0.add(stub, for: .calls(of: FeathersApp.stripSlashes(path), method)) }
    }

    /// Registers a stub for the calls of a method on any service.
    @discardableResult
    public func stub(_ method: ServiceMethod, with stub: ServiceStub) -> StubRegistration {
        registry.change { $0.add(stub, for: .calls(of: nil, method)) }
    }

    /// Removes the stub registered for exactly this path and method.
    public func removeStub(_ path: String, _ method: ServiceMethod? = nil) {
        registry.change { $0.remove(sameAs: .calls(of: FeathersApp.stripSlashes(path), method)) }
    }

    /// Returns the calls received so far for a service, or for one of its methods.
    public func calls(of path: String, _ method: ServiceMethod? = nil) -> [RecordedCall<ServiceRequest, JSONValue>] {
        let selector = StubSelector<ServiceRequest>.calls(of: FeathersApp.stripSlashes(path), method)
        return registry.calls.filter { selector.matches($0.request) }
    }
}
