/// The methods of a Feathers service. Implement this protocol to register a service in an app.
///
/// Implement the methods your service supports. The others throw ``FeathersError/Code/methodNotAllowed``, as in FeathersJS. Throw a
/// ``FeathersError``; other errors reach the caller unchanged.
public protocol ServiceProtocol: Sendable {
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

    /// Returns the error for a method that a local service does not implement, or implements with other labels or types than its protocol declares.
    static func unimplemented(_ method: ServiceMethod) -> FeathersError {
        var error = unsupported(method)
        error.hint = "the service has no method with the signature that its protocol declares for '\(method)'"
        return error
    }
}

/// A service that performs work before an app starts or after it ends.
public protocol LifecycleService: ServiceProtocol {
    /// Prepares the service. Called when its app is set up, or when the service is registered in an app that is already set up.
    /// - Throws: any error that prevents the service from working. The app's setup, or `use`, rethrows it.
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
    ///   - methods: the methods that may be called, including custom ones; nil allows every method that the service supports.
    ///   - serviceEvents: the events that the service emits itself. The app does not emit them after its methods.
    public init(methods: Set<ServiceMethod>? = nil, serviceEvents: Set<EventName> = []) {
        self.methods = methods
        self.serviceEvents = serviceEvents
    }

    /// Names that have another meaning when hooks are registered, so they are not allowed for custom methods.
    private static let reserved: Set<String> = [
        "all", "around", "before", "after", "error", "hooks", "setup", "teardown", "publish",
    ]

    func validate(for path: String) throws {
        for method in methods ?? [] where Self.reserved.contains(method.rawValue) {
            throw FeathersError(
                .badRequest, "'\(method)' on service '\(path)' is not allowed as a custom method name", execution: .neverSent)
        }
    }
}

/// The implementation for paths without a service. It rejects every call.
struct MissingService: ServiceProtocol {
    let path: String

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        throw FeathersError(.notFound, "Can not find service '\(path)'", execution: .neverSent)
    }
}

/// The implementation for methods that a service's options exclude. It rejects every call.
struct RefusingService: ServiceProtocol {
    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        throw FeathersError.unsupported(request.method)
    }
}

/// A service on the server, which rejects calls once the app has shut down.
struct SendingService: ServiceProtocol {
    let service: TransportService
    let gate: CallGate
    let app: WeakApp
    /// Whether requests belong to the app's user, although no sign-in gate says so.
    let recordsSender: Bool

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        // Checked here, immediately before sending, because the call may have waited or be a retry.
        if gate.isFinished { throw FeathersError.shuttingDown(request) }
        var request = request
        if recordsSender { request.recordSender(of: app.app, whenSent: true) }
        try request.checkSender()
        if request.token != nil || !request.params.headers.isEmpty {
            let app = app.app
            try request.addTokenField(app, mayCarry: app?.trusts(service) == true)
            request.harmlessFields = app?.harmlessFields
        }
        return try request.checked(await service.transport.send(request))
    }
}
