import FeathersSupport

extension Params {
    /// The access token of the user for whom this call is made, instead of the app's own user.
    ///
    /// Over HTTP, the token is sent in the header field of the app's authentication, or as `Authorization: Bearer`
    /// without one, to the servers that may receive the app's own token. The app neither stores nor refreshes it: if
    /// the server responds with 401, the call throws. A Socket.IO connection has one user, so a Socket.IO transport
    /// refuses the call before sending it, and a mixed transport sends it over REST. Calls that hooks and local
    /// services make within the call are made for the same user.
    ///
    /// The token takes precedence over ``FeathersApp/withToken(_:_:)``. Live queries and the outbox belong to the
    /// app's own user and refuse it.
    public var token: String? {
        get { self[CallToken.self]?.value }
        set { self[CallToken.self] = newValue.map { CallToken($0, owner: nil) } }
    }

    /// Returns the params for a call that starts later, with the token of the current ``FeathersApp/withToken(_:_:)``.
    package func withScopedToken(of app: FeathersApp) -> Params {
        guard let scope = TokenScope.current, token == nil, let token = scope.token(for: app), !names(app.tokenField)
        else { return self }
        var params = self
        params[CallToken.self] = CallToken(token, owner: scope.app.weakReference)
        return params
    }

    /// Whether the caller has set a header field, in any case.
    package func names(_ field: String) -> Bool {
        if headers.isEmpty { return false }
        let field = field.lowercased()
        return headers.keys.contains { $0.lowercased() == field }
    }
}

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
    /// - Parameters:
    ///   - token: The access token; nil for the app's own user, within another scope.
    ///   - body: The code whose calls are made for that user.
    public func withToken<Result>(
        _ token: String?, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await TokenScope.$current.withValue(TokenScope(app: self, token: token, outer: TokenScope.current)) {
            try await body()
        }
    }

    /// Runs work of the app itself, whose calls are never made for a caller's user.
    package func withoutToken<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        if TokenScope.current == nil, TokenScope.isOwnWork { return try await body() }
        return try await TokenScope.$current.withValue(nil) {
            try await TokenScope.$isOwnWork.withValue(true) { try await body() }
        }
    }

    /// Runs a call that was prepared earlier, for example a stream's, with the token of that time.
    package func withToken<Result>(of prepared: Params, _ body: () async throws -> Result) async rethrows -> Result {
        guard TokenScope.current != nil else { return try await body() }
        return try await withToken(prepared.token) { try await body() }
    }

    /// - Throws: ``FeathersError/Code/badRequest`` if `params` or a scope has a token, or if `params` has the header
    ///   field of tokens.
    package func refuseToken(in params: Params = Params(), for what: String) throws(FeathersError) {
        let hasOwnField = tokenForm.map { params.names($0.field) } ?? false
        guard hasOwnField || params.token != nil || TokenScope.current?.token(for: self) != nil else { return }
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

/// The header field of a token, and the scheme before the token.
package struct TokenForm: AppSetting, Sendable {
    package typealias Value = TokenForm

    let field: String
    let scheme: String

    package init(field: String = "Authorization", scheme: String = "Bearer") {
        (self.field, self.scheme) = (field, scheme)
    }

    package func value(of token: String) -> String { scheme.isEmpty ? token : "\(scheme) \(token)" }
}

/// The token of a call that is not made as the app's own user.
package final class CallToken: ParamsKey, SecretHiding, Sendable {
    package typealias Value = CallToken

    let value: String
    /// The app whose caller has given the token; nil until the call is made. Only servers that it trusts receive the
    /// token.
    let owner: WeakApp?

    init(_ value: String, owner: WeakApp?) { (self.value, self.owner) = (value, owner) }

    /// Distinguishes the token's user. A token's claims may be forged, so this is a digest of the whole token.
    package var digest: String { SHA256.hex(value.utf8) }

    /// The longest token accepted, in bytes.
    package static let maximumLength = 64 << 10

    /// Returns why a token cannot be sent in a header field; nil if it can. A line break would start another field.
    package static func flaw(in token: String) -> String? {
        let bytes = token.utf8
        if bytes.isEmpty { return "is empty" }
        if bytes.count > maximumLength { return "has \(bytes.count) bytes, but at most \(maximumLength) are accepted" }
        return bytes.allSatisfy { (0x21...0x7E).contains($0) } ? nil : "has characters that no header allows"
    }
}

/// The token of one app with which a task's calls are made.
package struct TokenScope: Sendable {
    @TaskLocal package static var current: TokenScope?
    /// Whether the present calls are an app's own work. Not a scope, because tasks that begin here must not retain the
    /// app.
    @TaskLocal fileprivate static var isOwnWork = false

    let app: FeathersApp
    let token: String?
    /// The scope around this one, as a list with at most one element.
    private let outer: [TokenScope]

    init(app: FeathersApp, token: String?, outer: TokenScope?) {
        (self.app, self.token, self.outer) = (app, token, outer.map { [$0] } ?? [])
    }

    /// Whether the calls of the present scope are made for an app's own user on purpose.
    package static func isOwnUser(of app: FeathersApp) -> Bool {
        if let current, current.covers(app) { return true }
        return isOwnWork && current?.token(for: app) == nil
    }

    private func covers(_ other: FeathersApp) -> Bool {
        if app === other || app.registry.mounts(other) { return token == nil }
        return outer.first?.covers(other) ?? false
    }

    /// Returns the token for the calls of an app, or of an app that is mounted in it.
    func token(for other: FeathersApp) -> String? {
        if app === other || app.registry.mounts(other) { return token }
        return outer.first?.token(for: other)
    }
}

extension RequestSender {
    /// The sender of every call with a token of its own. It is never signed in to the app, so it never signs out.
    package static let ofCall = RequestSender(nil)
}

extension ServiceRequest {
    /// Reads the call's token from its params: when the call is made, and after hooks, which may set one.
    ///
    /// Once it is set, a hook that replaces the params does not turn the call into one of the app's own user.
    /// - Throws: ``FeathersError/Code/badRequest`` if a header cannot contain the token, or if the call belongs to the
    ///   app's user.
    mutating func readToken(in app: FeathersApp) throws(FeathersError) {
        guard let given = params[CallToken.self], given !== token else { return }
        if let flaw = CallToken.flaw(in: given.value) {
            throw .refused("'\(method)' on service '\(path)' was not sent: its token \(flaw)")
        }
        if params.isLive || isQueuedWrite {
            try app.refuseToken(in: params, for: params.isLive ? "A live query" : "A queued write")
        }
        let owned = given.owner == nil ? CallToken(given.value, owner: app.weakReference) : given
        (token, params[CallToken.self], sender) = (owned, owned, RequestSender.ofCall)
    }

    /// Whether the call is made for a user other than the app's own: with a token, or with its own credentials in the
    /// header field of the app's authentication.
    package func isForAnotherUser(in app: FeathersApp?) -> Bool {
        if token != nil { return true }
        guard !params.headers.isEmpty, let field = app?.tokenForm?.field else { return false }
        return params.names(field) && params.appToken == nil
    }

    /// Adds the header field with the call's token, immediately before sending.
    /// - Parameters:
    ///   - app: The app that sends the call.
    ///   - mayCarry: Whether the app's credentials may be sent to the call's server.
    mutating func addTokenField(_ app: FeathersApp?, mayCarry: Bool) throws(FeathersError) {
        guard let token else { return }
        let form = app?.tokenForm ?? TokenForm()
        if params.names(form.field) {
            throw .refused(
                "'\(method)' on service '\(path)' was not sent: it has a token and the header field '\(form.field)'")
        }
        guard mayCarry, let app, let owner = token.owner?.app else { return }
        params.setToken(form.field, form.value(of: token.value), of: sender, lentBy: owner === app ? nil : owner)
    }
}

extension Service {
    /// Runs a request through the hooks and the service, then emits its event.
    /// - Throws: ``FeathersError/Code/unavailable`` if the app is shutting down.
    @concurrent @inline(__always)
    func execute(_ request: consuming ServiceRequest) async throws -> ServiceResponse {
        if TokenScope.current == nil, request.params.token == nil { return try await perform(request) }
        return try await withToken(of: request) { try await perform($0) }
    }

    /// Runs a request whose result is streamed into a channel. The call lasts until the end of the stream.
    /// - Throws: ``FeathersError/Code/unavailable`` if the app is shutting down.
    @concurrent
    func executeStream(_ request: ServiceRequest, into channel: ResultChannel) async throws -> ServiceResponse {
        try await withToken(of: request) { try await performStream($0, into: channel) }
    }

    /// Reads the token that a call is made with, which also applies to the calls within it.
    @concurrent
    private func withToken(
        of request: ServiceRequest, _ perform: @concurrent @Sendable (ServiceRequest) async throws -> ServiceResponse
    ) async throws -> ServiceResponse {
        var request = request
        if request.token == nil, request.sender == nil { request.params = request.params.withScopedToken(of: app) }
        try request.readToken(in: app)
        guard let token = request.token, let owner = token.owner?.app else { return try await perform(request) }
        return try await owner.withToken(token.value) { [request] in try await perform(request) }
    }
}
