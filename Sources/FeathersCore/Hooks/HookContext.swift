/// Everything about one call, handed from hook to hook.
///
/// A value: hooks change it in place, and what they change is what the next hook and the method see.
public struct HookContext: Sendable {
    /// The app the call runs in; reach other services through it.
    public let app: FeathersApp

    /// The service the call runs on. Calling it runs its hooks again.
    public let service: Service

    public let method: ServiceMethod

    /// When the hook that sees this runs.
    public internal(set) var type: HookType

    /// The record's id; nil in `find`, `create` and custom methods, and where a call means every matching record.
    public var id: ServiceID?

    /// The payload of `create`, `update`, `patch` and custom methods.
    public var data: JSONValue?

    public var params: Params

    /// The call's result. Setting it before the method skips the method and nothing else; setting it in an error hook
    /// (JSON null counts) turns the failure into a success.
    public var result: JSONValue?

    /// The failure, in error hooks. Setting it in a before or after hook fails the call at once, as throwing does.
    public var error: (any Error)?

    /// What events carry in place of the result.
    public var dispatch: JSONValue?

    /// The event the call ends with: `created` after `create` and so on. Another name renames it, nil suppresses it.
    public var event: EventName?

    /// In error hooks, what was true when the call failed.
    public internal(set) var original: Failure?

    /// The service's path.
    public var path: String { service.path }

    /// The state of a call at the moment of its failure.
    public struct Failure: Sendable {
        /// The type of the hooks that ran; `around` where the method itself failed.
        public let type: HookType
        /// The result, where there was one already.
        public let result: JSONValue?
    }

    init(app: FeathersApp, service: Service, request: ServiceRequest) {
        self.app = app
        self.service = service
        self.method = request.method
        self.type = .around
        self.id = request.id
        self.data = request.data
        self.params = request.params
        self.result = nil
        self.error = nil
        self.dispatch = nil
        self.event = EventName(endOf: request.method)
        self.original = nil
    }

    /// The call as the service receives it after the hooks had their say.
    var request: ServiceRequest {
        ServiceRequest(path: path, method: method, id: id, data: data, params: params)
    }
}
