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

    /// Returns the params with the token of the current ``FeathersApp/withToken(_:_:)``, unless they have their own.
    package func withScopedToken(of app: FeathersApp) -> Params {
        guard token == nil, case .token(let token, let owner)? = UserScope.current?.user(for: app),
            !names(app.tokenField)
        else { return self }
        var params = self
        params[CallToken.self] = CallToken(token, owner: owner)
        return params
    }

    /// Whether the caller has set the header field of tokens, with more than the scheme.
    fileprivate func hasCredentials(in form: TokenForm) -> Bool {
        guard appToken == nil, names(form.field) else { return false }
        let field = form.field.lowercased()
        return headers.contains { name, value in
            let words = value.split(separator: " ")
            return name.lowercased() == field && words.contains { $0.lowercased() != form.scheme.lowercased() }
        }
    }

    /// Whether the caller has set a header field, in any case.
    package func names(_ field: String) -> Bool {
        if headers.isEmpty { return false }
        let field = field.lowercased()
        return headers.keys.contains { $0.lowercased() == field }
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
        if token.lowercased().hasPrefix("bearer ") { return "begins with 'Bearer': pass what follows it" }
        if bytes.count > maximumLength { return "has \(bytes.count) bytes, but at most \(maximumLength) are accepted" }
        return bytes.allSatisfy { (0x21...0x7E).contains($0) } ? nil : "has characters that no header allows"
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
        guard let given = params[CallToken.self], given !== callToken else { return }
        if let flaw = CallToken.flaw(in: given.value) {
            throw .refused("'\(method)' on service '\(path)' was not sent: its token \(flaw)")
        }
        if params.isLive || isQueuedWrite {
            try app.refuseToken(in: params, for: params.isLive ? "A live query" : "A queued write")
        }
        let owned = given.owner == nil ? CallToken(given.value, owner: app.weakReference) : given
        (callToken, params[CallToken.self], sender) = (owned, owned, RequestSender.ofCall)
    }

    /// Checks that the call says for whom it is made, if calls of the app need a token. Runs after the hooks, which may
    /// set a token or drop a header field, and before the cache.
    /// - Throws: ``FeathersError/Code/notAuthenticated``.
    @inline(__always)
    func checkUser(in app: FeathersApp) throws(FeathersError) {
        if app.tokenIsRequired { try checkRequiredUser(in: app) }
    }

    private func checkRequiredUser(in app: FeathersApp) throws(FeathersError) {
        if callToken != nil || params.hasCredentials(in: app.tokenForm ?? TokenForm()) { return }
        try app.requireOwnUser(for: "'\(method)' on service '\(path)'")
    }

    /// Whether the call is made for a user other than the app's own: with a token, or with its own credentials in the
    /// header field of the app's authentication.
    package func isForAnotherUser(in app: FeathersApp?) -> Bool {
        if callToken != nil { return true }
        guard !params.headers.isEmpty, let field = app?.tokenForm?.field else { return false }
        return params.names(field) && params.appToken == nil
    }

    /// Adds the header field with the call's token, immediately before sending.
    /// - Parameters:
    ///   - app: The app that sends the call.
    ///   - mayCarry: Whether the app's credentials may be sent to the call's server.
    mutating func addTokenField(_ app: FeathersApp?, mayCarry: Bool) throws(FeathersError) {
        guard let callToken else { return }
        let form = app?.tokenForm ?? TokenForm()
        if params.names(form.field) {
            throw .refused(
                "'\(method)' on service '\(path)' was not sent: it has a token and the header field '\(form.field)'")
        }
        guard mayCarry, let app, let owner = callToken.owner?.app else { return }
        params.setToken(form.field, form.value(of: callToken.value), of: sender, lentBy: owner === app ? nil : owner)
    }
}

extension Service {
    /// Runs a request through the hooks and the service, then emits its event.
    /// - Throws: ``FeathersError/Code/unavailable`` if the app is shutting down.
    @concurrent @inline(__always)
    func executeCall(_ request: consuming ServiceRequest) async throws -> ServiceResponse {
        if UserScope.current == nil, request.params.token == nil, DeadlineScope.current == nil {
            return try await perform(request)
        }
        return try await executeInScope(request)
    }

    /// Runs a request that has a user of its own or a deadline.
    ///
    /// Not inlined, and neither is what it calls: while a call waits, its task holds the frames of all functions that
    /// wait for it, and `perform` is the largest of them.
    @concurrent @inline(never)
    private func executeInScope(_ request: ServiceRequest) async throws -> ServiceResponse {
        try await sendingToken(of: request) { request in
            try await DeadlineScope.run(request) { try await performOnce($0) }
        }
    }

    @concurrent @inline(never)
    private func performOnce(_ request: ServiceRequest) async throws -> ServiceResponse { try await perform(request) }

    /// Runs a request whose result is streamed into a channel. The call lasts until the end of the stream.
    /// - Throws: ``FeathersError/Code/unavailable`` if the app is shutting down.
    @concurrent
    func executeStream(_ request: ServiceRequest, into channel: ResultChannel) async throws -> ServiceResponse {
        try await sendingToken(of: request) { request in
            try await DeadlineScope.run(request) { try await performStream($0, into: channel) }
        }
    }

    /// Reads the token that a call is made with, which also applies to the calls within it.
    @concurrent
    private func sendingToken(
        of request: ServiceRequest, _ perform: @concurrent @Sendable (ServiceRequest) async throws -> ServiceResponse
    ) async throws -> ServiceResponse {
        var request = request
        if request.callToken == nil, request.sender == nil { request.params = request.params.withScopedToken(of: app) }
        try request.readToken(in: app)
        guard let token = request.callToken, let owner = token.owner?.app else { return try await perform(request) }
        return try await owner.withToken(token.value) { [request] in try await perform(request) }
    }
}
