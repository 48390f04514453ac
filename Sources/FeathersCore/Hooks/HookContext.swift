/// A function that runs before or after a service method, or after a failure.
///
/// Modify the context to change the call, or throw to stop it.
public typealias Hook = @Sendable (inout HookContext) async throws -> Void

/// A function that runs around a service method.
///
/// Call `next` once to continue; otherwise the method does not run. You may call `next` again only after it failed,
/// which is how retries are written. A second call after a success throws.
public typealias AroundHook = @Sendable (inout HookContext, NextHook) async throws -> Void

/// Continues with everything inside an around hook: the inner hooks and the method itself.
public struct NextHook: Sendable {
    let plan: CallPlan
    let index: Int

    /// Runs everything inside the around hook.
    /// - Throws: Any error of an inner hook or the method; ``FeathersError/Code/generalError`` if `next` already
    ///   succeeded.
    public func callAsFunction(_ context: inout HookContext) async throws {
        guard context.finishedNext != index else { throw FeathersError(.generalError, "next() called multiple times") }
        try await plan.runInside(index, &context)
        context.finishedNext = index
        context.type = .around
    }
}

/// When a hook runs.
public enum HookType: String, Sendable, Hashable {
    case around, before, after, error
}

/// The state of one call, passed from hook to hook.
///
/// It is a value. Hooks modify it in place, and later hooks and the method see the changes.
///
/// ## Topics
///
/// ### The call
/// - ``app``
/// - ``service``
/// - ``path``
/// - ``method``
/// - ``type``
/// - ``endpoint``
///
/// ### What is sent
/// - ``id``
/// - ``data``
/// - ``params``
///
/// ### What comes back
/// - ``result``
/// - ``response``
/// - ``error``
/// - ``original``
///
/// ### The event
/// - ``event``
/// - ``dispatch``
public struct HookContext: Sendable {
    /// The service of the call. Calling it runs its hooks again.
    public let service: Service<JSONValue>

    /// The call in the form that the service receives after the hooks have run.
    var serviceRequest: ServiceRequest

    /// The type of the current hook.
    public internal(set) var type: HookType = .around

    /// The response: the result and the metadata from transport and middleware. Setting it before the method runs skips
    /// the method.
    public var response: ServiceResponse?

    /// The failure, in error hooks. Setting it in any other hook fails the call immediately, as throwing does.
    public var error: (any Error)?

    /// The event at the end of the call, such as `created` after `create`. Set another name to rename it, or nil to
    /// suppress it.
    public var event: EventName?

    /// The around hook whose `next` succeeded last.
    var finishedNext = Int.max

    /// Values that few calls have, in separate storage to keep the context small.
    ///
    /// Not private, because a context is made by its memberwise initializer: with an initializer of its own, every call
    /// copied its context (measured: a twelfth of a call with three hooks).
    var rare: Rare?
}

extension HookContext {
    /// The app of the call. Use it to reach other services.
    public var app: FeathersApp { service.app }

    /// The path of the service.
    public var path: String { serviceRequest.path }

    /// The called method.
    ///
    /// Setting it before the method runs calls another method of the service instead, which emits its own event. The
    /// hooks stay those of the original method. Set ``id`` and ``data`` as the other method needs them. If the id is
    /// missing, the call fails instead of affecting every record.
    public var method: ServiceMethod {
        get { serviceRequest.method }
        set {
            guard newValue != serviceRequest.method else { return }
            serviceRequest.method = newValue
            event = service.registered.event(endOf: newValue)
        }
    }

    /// The id of the record; nil in `find`, `create` and custom methods, and in calls that affect every matching
    /// record.
    public var id: ServiceID? {
        get { serviceRequest.id }
        set { serviceRequest.id = newValue }
    }

    /// The payload of `create`, `update`, `patch` and custom methods.
    public var data: JSONValue? {
        get { serviceRequest.data }
        _modify { yield &serviceRequest.data }
    }

    /// The query, the header fields and other parameters of the call. Hooks may change them.
    public var params: Params {
        get { serviceRequest.params }
        _modify { yield &serviceRequest.params }
    }

    /// The result of the call. Setting it before the method runs skips only the method. Setting it in an error hook
    /// (JSON null counts) turns the failure into a success. Setting it to nil discards the whole ``response``.
    public var result: JSONValue? {
        get { response?.result }
        _modify {
            // Moved out, so that modifying it in place copies nothing.
            var response = self.response
            self.response = nil
            var value = response?.result
            response?.result = .null
            defer {
                if let value {
                    if response == nil { response = ServiceResponse(value) } else { response?.result = value }
                    self.response = response
                }
            }
            yield &value
        }
        set {
            guard let newValue else { return response = nil }
            if response == nil { response = ServiceResponse(newValue) } else { response?.result = newValue }
        }
    }

    /// The data that events carry instead of the result.
    public var dispatch: JSONValue? {
        get { rare?.dispatch }
        set { rare = Rare(dispatch: newValue, original: rare?.original, channel: rare?.channel) }
    }

    /// In error hooks, the state of the call when it failed.
    public internal(set) var original: Failure? {
        get { rare?.original }
        set { rare = Rare(dispatch: rare?.dispatch, original: newValue, channel: rare?.channel) }
    }

    /// Where the items of a streamed result go; nil for other calls.
    var resultChannel: ResultChannel? {
        get { rare?.channel }
        set { rare = Rare(dispatch: rare?.dispatch, original: rare?.original, channel: newValue) }
    }

    /// The state of a call at the time of its failure.
    public struct Failure: Sendable {
        /// The type of the failed hook; `around` if the method itself failed.
        public let type: HookType
        /// The result, if there already was one.
        public let result: JSONValue?
    }

    final class Rare: Sendable {
        let dispatch: JSONValue?
        let original: Failure?
        let channel: ResultChannel?

        init(dispatch: JSONValue?, original: Failure?, channel: ResultChannel?) {
            (self.dispatch, self.original, self.channel) = (dispatch, original, channel)
        }
    }

    /// Throws the error that a hook has set, if any.
    mutating func throwError() throws {
        guard let error else { return }
        self.error = nil
        throw error
    }
}
