import FeathersSupport
import Synchronization

extension FeathersApp {
    /// Runs `body`, in which this app's calls are made for the user of an access token, unless they have their own
    /// ``Params/token``.
    ///
    /// ```swift
    /// try await app.withToken(request.token) {
    ///     try await messages.find(.limit(20))
    /// }
    /// ```
    /// A server that acts for many users needs only one app. A call uses the token in scope when it is made. That
    /// includes calls in child tasks, and streams and pages that are read later. The app's own work, such as
    /// refreshing its sign-in or sending queued writes, never uses it. Events are those of the app's own connection.
    ///
    /// A token that no header field can contain, such as an empty one, makes each call throw
    /// ``FeathersError/Code/badRequest``.
    /// - Parameters:
    ///   - token: The access token, without `Bearer`.
    ///   - body: The code whose calls are made for that user.
    /// - Throws: The errors of `body`.
    public func withToken<Result>(
        _ token: String, _ body: () async throws -> Result
    ) async rethrows -> Result {
        let scope = UserScope(weakReference, .token(token, owner: weakReference), outer: UserScope.current)
        return try await UserScope.$current.withValue(scope) { try await body() }
    }

    /// Runs `body`, in which this app's calls are made as the user who is signed in to the app, also within
    /// ``withToken(_:_:)``.
    ///
    /// With ``AuthenticationOptions/requiresToken``, this marks what the app does for itself:
    ///
    /// ```swift
    /// let settings = try await app.asOwnUser { try await app.service("settings").get(1) }
    /// ```
    /// Streams, pages, live queries, event streams and drafts that are created in `body` stay the app's own when they
    /// are read later.
    /// - Parameter body: The code whose calls are the app's own.
    /// - Throws: The errors of `body`.
    public func asOwnUser<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        let scope = UserScope(weakReference, .own, outer: UserScope.current)
        return try await UserScope.$current.withValue(scope) { try await body() }
    }

    /// Runs work of the package for the app's own user, which no scope of a caller affects.
    package func asOwnWork<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        try await UserScope.runApart(in: ownScope, body)
    }

    /// The scope of the app's own work.
    package var ownScope: UserScope { UserScope(weakReference, .own, outer: nil) }

    /// Whether only calls for the user of a token, and calls that are marked as the app's own, are made.
    package var tokenIsRequired: Bool { tokenRequirement.load(ordering: .relaxed) }

    /// Refuses calls without a token from now on, also those of mounted apps: they act for the same callers.
    package func requireToken() {
        guard tokenRequirement.exchange(true, ordering: .sequentiallyConsistent) == false else { return }
        for (_, entry) in serviceRegistry.registered { entry.mountedFrom?.requireToken() }
    }

    /// - Throws: ``FeathersError/Code/notAuthenticated`` if calls of the app need a token, and the current scope is
    ///   not the app's own user's.
    package func requireOwnUser(for what: String) throws(FeathersError) {
        guard tokenIsRequired, UserScope.current?.user(for: self)?.isOwn != true else { return }
        throw FeathersError(
            .notAuthenticated,
            "\(what) has no token, which this app requires: use 'withToken' to act for a user, or 'asOwnUser' for the "
                + "app's own work", execution: .neverSent)
    }

    /// - Throws: ``FeathersError/Code/badRequest`` if `params` or a scope has a token, or if `params` has the header
    ///   field of tokens.
    package func refuseToken(in params: Params = Params(), for what: String) throws(FeathersError) {
        let hasOwnField = tokenForm.map { params.names($0.field) } ?? false
        guard hasOwnField || params.token != nil || UserScope.current?.user(for: self)?.isOwn == false else { return }
        throw .refused(
            "\(what) cannot have a token of its own: it belongs to the app's user. Use an app for each user instead")
    }

    /// The name of the header field for tokens, as it is sent.
    var tokenField: String { tokenForm?.field ?? "Authorization" }

    /// How the app's authentication sends tokens; nil without authentication.
    package var tokenForm: TokenForm? {
        get { self[TokenForm.self] }
        set { self[TokenForm.self] = newValue }
    }
}

/// For whom a task makes the calls of an app.
///
/// What begins later, such as a stream, captures the scope of its creation and runs in it. A scope does not retain the
/// app, because tasks that begin within it must not.
package struct UserScope: Sendable {
    enum User: Sendable {
        case own
        /// The user of a token, and the app that was given the token.
        case token(String, owner: WeakApp)

        var isOwn: Bool { if case .own = self { true } else { false } }
    }

    @TaskLocal package static var current: UserScope?

    private let app: WeakApp
    private let user: User
    /// The scope around this one, as a list with at most one element.
    private let outer: [UserScope]

    init(_ app: WeakApp, _ user: User, outer: UserScope?) {
        (self.app, self.user, self.outer) = (app, user, outer.map { [$0] } ?? [])
    }

    /// Returns for whom the calls of an app, or of an app that is mounted in it, are made; nil if no scope says so.
    func user(for other: FeathersApp) -> User? {
        if app === other.weakReference || app.app?.serviceRegistry.mounts(other) == true { return user }
        return outer.first?.user(for: other)
    }

    /// Runs work in the scope in which it was prepared; nil if there was none.
    package static func run<Result>(in scope: UserScope?, _ body: () async throws -> Result) async rethrows -> Result {
        try await $current.withValue(scope) { try await body() }
    }

    /// Runs work that does not belong to the caller, whose deadline and trace therefore do not concern it, in a scope.
    package static func runApart<Result>(
        in scope: UserScope?, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await DeadlineScope.$current.withValue(nil) {
            try await TraceContext.$ofTask.withValue(nil) { try await run(in: scope, body) }
        }
    }
}
