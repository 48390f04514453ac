/// A function that runs before or after a service method, or after it failed.
///
/// It changes the call by changing the context, and stops it by throwing.
public typealias Hook = @Sendable (inout HookContext) async throws -> Void

/// A function that runs around a service method.
///
/// It calls `next` once to go on; what it does not let through does not happen. It may call `next` again only after a failure, which is how
/// retries are written. A second call after a success throws.
public typealias AroundHook = @Sendable (inout HookContext, NextHook) async throws -> Void

/// Goes on with everything inside an around hook: the hooks after it and the method itself.
public struct NextHook: Sendable {
    let plan: CallPlan
    let index: Int

    /// Runs what is inside the around hook.
    /// - Throws: what a hook inside or the method throws; ``FeathersError/Code/generalError`` if it succeeded before.
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

/// Everything about one call, handed from hook to hook.
///
/// A value: hooks change it in place, and the next hook and the method see what they changed.
public struct HookContext: Sendable {
    /// The service the call runs on. Calling it runs its hooks again.
    public let service: UntypedService

    /// The call as the service receives it after the hooks have run.
    var request: ServiceRequest

    /// When the hook that sees this runs.
    public internal(set) var type: HookType = .around

    /// The call's response: the result with what transport and middleware say about it. Setting it before the method skips the method.
    public var response: ServiceResponse?

    /// The failure, in error hooks. Setting it in any other hook fails the call at once, as throwing does.
    public var error: (any Error)?

    /// The event the call ends with: `created` after `create` and so on. Another name renames it, nil suppresses it.
    public var event: EventName?

    /// The around hook whose `next` succeeded last.
    var finishedNext = Int.max

    /// What few calls have, out of the way of all the others.
    private var rare: Rare?

    init(service: UntypedService, request: consuming ServiceRequest, event: EventName?) {
        self.service = service
        self.request = request
        self.event = event
    }
}

extension HookContext {
    /// The app the call runs in; reach other services through it.
    public var app: FeathersApp { service.app }

    /// The service's path.
    public var path: String { request.path }

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

    /// The query, the header fields, and everything else that goes with the call. A hook may change them.
    public var params: Params {
        get { request.params }
        _modify { yield &request.params }
    }

    /// The call's result. Setting it before the method skips the method and nothing else. Setting it in an error hook (JSON null counts) turns
    /// the failure into a success. Setting it to nil drops the whole ``response``.
    public var result: JSONValue? {
        get { response?.result }
        _modify {
            // Moved out, so that a change in place copies nothing.
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

    /// What events carry instead of the result.
    public var dispatch: JSONValue? {
        get { rare?.dispatch }
        set { rare = Rare(dispatch: newValue, original: rare?.original) }
    }

    /// In error hooks, the state of the call when it failed.
    public internal(set) var original: Failure? {
        get { rare?.original }
        set { rare = Rare(dispatch: rare?.dispatch, original: newValue) }
    }

    /// The state of a call at the moment of its failure.
    public struct Failure: Sendable {
        /// The type of the hooks that ran; `around` if the method itself failed.
        public let type: HookType
        /// The result, if there was one already.
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

    /// Fails the call with the error a hook has set.
    mutating func throwError() throws {
        guard let error else { return }
        self.error = nil
        throw error
    }
}
