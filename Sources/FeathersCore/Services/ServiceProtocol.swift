/// The methods of a Feathers service. Implement this protocol to register a service in an app.
///
/// Implement the methods your service supports. The others throw ``FeathersError/Code/methodNotAllowed``, as in
/// FeathersJS. Throw a ``FeathersError``; other errors reach the caller unchanged.
///
/// ```swift
/// actor Clock: ServiceProtocol {
///     func find(_ params: Params) async throws -> JSONValue { [["now": JSONValue(Date())]] }
/// }
///
/// let clock = try await app.use(Clock(), at: "clock")
/// ```
/// For a service whose records are values of a model, implement ``TypedServiceProtocol``.
public protocol ServiceProtocol: Actor {
    /// Returns the records that match `params.query`: an array or a page `{total, limit, skip, data}`.
    func find(_ params: Params) async throws -> JSONValue

    /// Reads one record.
    func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue

    /// Creates one record from an object, or several from an array of objects.
    func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Replaces a record. A nil id is Feathers' null id, which most services reject for this method.
    func update(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Merges `data` into a record or, with a nil id, into every record that matches `params.query`.
    func patch(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Removes a record or, with a nil id, every record that matches `params.query`.
    func remove(_ id: ServiceID?, _ params: Params) async throws -> JSONValue

    /// Runs a custom method.
    func call(_ method: ServiceMethod, with data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Responds to any request. The default implementation calls the method that the request names.
    func respond(to request: ServiceRequest) async throws -> ServiceResponse
}

extension ServiceProtocol {
    public func find(_ params: Params) async throws -> JSONValue {
        throw FeathersError.unimplemented(.find)
    }

    public func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unimplemented(.get)
    }

    public func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unimplemented(.create)
    }

    public func update(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unimplemented(.update)
    }

    public func patch(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unimplemented(.patch)
    }

    public func remove(_ id: ServiceID?, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unimplemented(.remove)
    }

    public func call(_ method: ServiceMethod, with data: JSONValue, _ params: Params) async throws -> JSONValue {
        throw FeathersError.unimplemented(method)
    }

    public func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        let result =
            switch request.method {
            case .find: try await find(request.params)
            case .get:
                if let id = request.id {
                    try await get(id, request.params)
                } else {
                    throw FeathersError(.badRequest, "id for 'get' can not be undefined")
                }
            case .create: try await create(request.data ?? .null, request.params)
            case .update: try await update(request.id, with: request.data ?? .null, request.params)
            case .patch: try await patch(request.id, with: request.data ?? .null, request.params)
            case .remove: try await remove(request.id, request.params)
            case .custom: try await call(request.method, with: request.data ?? .null, request.params)
            }
        return ServiceResponse(result)
    }
}

extension FeathersError {
    /// Returns the error for a method that the service does not support, with FeathersJS' message.
    package static func unsupported(_ method: ServiceMethod) -> FeathersError {
        FeathersError(.methodNotAllowed, "Method `\(method)` is not supported by this endpoint.")
    }

    /// Returns the error for a method that a local service does not implement, or implements with other labels or types
    /// than its protocol declares.
    static func unimplemented(_ method: ServiceMethod) -> FeathersError {
        var error = unsupported(method)
        error.advice = "the service has no method with the signature that its protocol declares for '\(method)'"
        return error
    }
}

/// A service that performs work before an app starts or after it ends.
///
/// Both a ``ServiceProtocol`` and a ``TypedServiceProtocol`` can adopt it.
public protocol LifecycleService: Actor {
    /// Prepares the service. Called when its app is set up, or when the service is registered in an app that is already
    /// set up.
    /// - Throws: Any error that prevents the service from working. The app's setup, or `use`, rethrows it.
    func setUp(in app: FeathersApp, at path: String) async throws

    /// Cleans up the service. Called when its app is torn down, or when the service is removed.
    func tearDown(in app: FeathersApp, at path: String) async throws
}

extension LifecycleService {
    public func setUp(in app: FeathersApp, at path: String) async throws {}
    public func tearDown(in app: FeathersApp, at path: String) async throws {}
}

/// Options for registering a service.
public struct ServiceOptions: Sendable {
    let methods: Set<ServiceMethod>?
    let serviceEvents: Set<EventName>

    /// Creates options for registering a service.
    /// - Parameters:
    ///   - methods: The methods that may be called, including custom ones; nil allows every method that the service
    ///     supports.
    ///   - serviceEvents: The events that the service emits itself. The app does not emit them after its methods.
    public init(methods: Set<ServiceMethod>? = nil, serviceEvents: Set<EventName> = []) {
        self.methods = methods
        self.serviceEvents = serviceEvents
    }

    /// Returns the event that the app emits after a method; nil if there is none, or if the service emits it itself.
    func event(endOf method: ServiceMethod) -> EventName? {
        EventName(endOf: method).flatMap { serviceEvents.contains($0) ? nil : $0 }
    }

    /// Names that have another meaning when hooks are registered, so they are not allowed for custom methods.
    private static let reserved: Set<String> = [
        "all", "around", "before", "after", "error", "hooks", "setup", "teardown", "publish",
    ]

    func validate(for path: String) throws {
        for method in methods ?? [] where Self.reserved.contains(method.rawValue) {
            throw FeathersError(
                .badRequest, "'\(method)' on service '\(path)' is not allowed as a custom method name",
                execution: .neverSent)
        }
    }
}
