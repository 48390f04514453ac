/// A function that runs before or after a service method, or after it failed.
///
/// It changes the call by changing the context, and stops it by throwing.
public typealias Hook = @Sendable (inout HookContext) async throws -> Void

/// A function that runs around a service method.
///
/// It calls `next` once to go on; what it does not let through does not happen. `next` may be called again only after it
/// threw, which is how a retry is written; a second call after a success throws.
public typealias AroundHook = @Sendable (inout HookContext, NextHook) async throws -> Void

/// Goes on with everything inside an around hook: the hooks after it and the method itself.
public typealias NextHook = (inout HookContext) async throws -> Void

/// When a hook runs.
public enum HookType: String, Sendable, Hashable {
    case around, before, after, error
}
