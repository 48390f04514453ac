/// Everything about one call, handed from hook to hook.
///
/// A value: hooks change it in place, and what they change is what the next hook and the method see.
public struct HookContext: Sendable {
    /// The service the call runs on. Calling it runs its hooks again.
    public let service: Service

    /// The call as the service receives it after the hooks had their say.
    var request: ServiceRequest

    /// When the hook that sees this runs.
    public internal(set) var type: HookType

    /// The call's result. Setting it before the method skips the method and nothing else; setting it in an error hook
    /// (JSON null counts) turns the failure into a success.
    public var result: JSONValue? {
        get { callResult?.json }
        _modify {
            // Taken out, so that a change in place copies nothing.
            var value = callResult?.json
            callResult = nil
            defer { callResult = value.map(CallResult.value) }
            yield &value
        }
        set { callResult = newValue.map(CallResult.value) }
    }

    /// The result as it came: a text stays one until somebody looks.
    var callResult: CallResult?

    /// Whether the caller makes a model of the result, and takes a text for it.
    let acceptsText: Bool

    /// The failure, in error hooks. Setting it in any other hook fails the call at once, as throwing does.
    public var error: (any Error)?

    /// The event the call ends with: `created` after `create` and so on. Another name renames it, nil suppresses it.
    public var event: EventName?

    /// What few calls have, out of the way of all the others.
    private var rare: Rare?

    init(service: Service, request: consuming ServiceRequest, event: EventName?, acceptsText: Bool = false) {
        self.service = service
        self.request = request
        self.type = .around
        self.event = event
        self.acceptsText = acceptsText
    }
}

extension HookContext {
    /// The app the call runs in; reach other services through it.
    public var app: FeathersApp { service.app }

    /// The service's path.
    public var path: String { service.path }

    /// The method that is called.
    public var method: ServiceMethod { request.method }

    /// The record's id; nil in `find`, `create` and custom methods, and where a call means every matching record.
    public var id: ServiceID? {
        get { request.id }
        set { request.id = newValue }
    }

    /// The payload of `create`, `update`, `patch` and custom methods.
    public var data: JSONValue? {
        get { request.data }
        _modify { yield &request.data }
    }

    /// The query, the header fields, and whatever else goes with the call; a hook may change them.
    public var params: Params {
        get { request.params }
        _modify { yield &request.params }
    }

    /// What events carry in place of the result.
    public var dispatch: JSONValue? {
        get { rare?.dispatch }
        set { rare = Rare(dispatch: newValue, original: rare?.original) }
    }

    /// In error hooks, what was true when the call failed.
    public internal(set) var original: Failure? {
        get { rare?.original }
        set { rare = Rare(dispatch: rare?.dispatch, original: newValue) }
    }

    /// The state of a call at the moment of its failure.
    public struct Failure: Sendable {
        /// The type of the hooks that ran; `around` where the method itself failed.
        public let type: HookType
        /// The result, where there was one already.
        public let result: JSONValue?
    }

    private final class Rare: Sendable {
        let dispatch: JSONValue?
        let original: Failure?

        init(dispatch: JSONValue?, original: Failure?) {
            self.dispatch = dispatch
            self.original = original
        }
    }
}
