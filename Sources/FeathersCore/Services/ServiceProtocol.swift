/// What an app can register: the methods of a Feathers service.
///
/// Implement the methods your service has; the others answer with
/// ``FeathersError/Code/methodNotAllowed``, as FeathersJS does. Throw a ``FeathersError``; anything else reaches the caller as it is.
public protocol ServiceProtocol: Sendable {
    /// Lists the records that match `params.query`: an array, or a page `{total, limit, skip, data}`.
    func find(_ params: Params) async throws -> JSONValue

    /// Reads one record.
    func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue

    /// Creates one record from an object, several from an array of objects.
    func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Replaces a record. A nil id is Feathers' null id, which most services refuse here.
    func update(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Merges `data` into a record; with a nil id into every record that matches `params.query`.
    func patch(_ id: ServiceID?, with data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Removes a record; with a nil id every record that matches `params.query`.
    func remove(_ id: ServiceID?, _ params: Params) async throws -> JSONValue

    /// Runs a custom method.
    func call(_ method: ServiceMethod, with data: JSONValue, _ params: Params) async throws -> JSONValue

    /// Runs any request. The default implementation calls the method the request names.
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
    /// The refusal of a method a service does not have, worded as FeathersJS words it.
    package static func unsupported(_ method: ServiceMethod) -> FeathersError {
        FeathersError(.methodNotAllowed, "Method `\(method)` is not supported by this endpoint.")
    }

    /// A method that a service of this process does not implement, or implements with other labels or types than its protocol declares.
    static func unimplemented(_ method: ServiceMethod) -> FeathersError {
        var error = unsupported(method)
        error.hint = "no method of the service has the signature that its protocol declares for '\(method)'"
        return error
    }
}

/// A service that has something to do before an app starts or after it ends.
public protocol LifecycleService: ServiceProtocol {
    /// Prepares the service: when its app is set up, or when it is registered in an app that already is.
    /// - Throws: whatever prevents it from working; the app's set-up, or `use`, throws it on.
    func setUp(in app: FeathersApp, at path: String) async throws

    /// Ends the service: when its app is torn down, or when it is taken out.
    func tearDown(in app: FeathersApp, at path: String) async throws
}

extension LifecycleService {
    public func setUp(in app: FeathersApp, at path: String) async throws {}
    public func tearDown(in app: FeathersApp, at path: String) async throws {}
}

/// How an app registers a service.
public struct ServiceOptions: Sendable {
    let methods: Set<ServiceMethod>?
    let serviceEvents: Set<EventName>

    /// Creates options.
    /// - Parameters:
    ///   - methods: the methods that may be called, custom ones included; nil allows every method the service answers.
    ///   - serviceEvents: the events the service emits itself, so that the app does not emit them after its methods.
    public init(methods: Set<ServiceMethod>? = nil, serviceEvents: Set<EventName> = []) {
        self.methods = methods
        self.serviceEvents = serviceEvents
    }

    /// Names that mean something else where hooks are registered, so no custom method may have them.
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

/// Stands where no service is registered, and says so to every call.
struct MissingService: ServiceProtocol {
    let path: String

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        throw FeathersError(.notFound, "Can not find service '\(path)'", execution: .neverSent)
    }
}

/// Refuses the methods that a service's options leave out.
struct RefusingService: ServiceProtocol {
    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        throw FeathersError.unsupported(request.method)
    }
}

/// A service on the server, until the app has shut down.
struct SendingService: ServiceProtocol {
    let transport: any Transport
    let gate: CallGate

    func respond(to request: ServiceRequest) async throws -> ServiceResponse {
        // Checked here, the last place before the wire: the call may have waited for its turn, or be a repetition.
        if gate.isFinished { throw FeathersError.shuttingDown(request) }
        try request.checkSender()
        return try await transport.send(request)
    }
}
