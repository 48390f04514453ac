import FeathersSupport

extension FeathersApp {
    /// Header fields of calls that change neither what a call does nor what it returns, in addition to those of
    /// tracing: `traceparent`, `tracestate`, `baggage` and `X-Request-Id`. Case is ignored.
    ///
    /// Only these fields, and `Accept-Language`, may be dropped when a call goes over a connection, which carries no
    /// header fields. Reads that differ only in harmless fields count as equal, so they can still be coalesced or
    /// served from a cache. Fields with credentials cannot be added.
    public var harmlessHeaders: Set<String> {
        get { self[HarmlessFields.self] ?? [] }
        set { self[HarmlessFields.self] = Set(newValue.map { $0.lowercased() }) }
    }

    /// The lowercase names of ``harmlessHeaders`` with those of tracing; nil if the app has added none.
    var harmlessFields: Set<String>? {
        guard let added = self[HarmlessFields.self] else { return nil }
        return HarmlessFields.tracing.union(added).subtracting(HarmlessFields.credentials).subtracting([
            tokenField.lowercased()
        ])
    }
}

private enum HarmlessFields: AppSetting {
    typealias Value = Set<String>

    static let tracing: Set = ["traceparent", "tracestate", "baggage", "x-request-id"]
    static let credentials: Set = ["authorization", "cookie", "proxy-authorization"]
}

extension HookContext {
    /// Records the header fields of the caller, before the hooks of the app add theirs.
    mutating func noteCallersFields() { params[CallersFields.self] = params.headers }

    /// Removes the header fields that the hooks of the app have added, if the service's server may not receive the
    /// app's credentials, which may be in any field. Those of the caller and of the service's own hooks are meant for that
    /// server.
    mutating func dropAppFields(for remote: RemoteResponder) {
        guard !params.headers.isEmpty, !app.trusts(remote) else { return }
        let callers = params[CallersFields.self] ?? [:]
        let harmless = app.harmlessFields ?? HarmlessFields.tracing
        params.headers = params.headers.filter { name, value in
            let lowercase = name.lowercased()
            return callers[name] == value || harmless.contains(lowercase) || ImpersonalFields.names.contains(lowercase)
        }
    }

    private enum CallersFields: ParamsKey { typealias Value = [String: String] }
}

extension ServiceRequest {
    /// The header field that keeps this call from being sent over a connection, which carries no header fields; nil if
    /// no field does.
    ///
    /// The current user's token, which the app has added itself, does not count, because the connection belongs to that
    /// user too.
    package var uncarriedField: String? {
        let headers = params.headers
        if headers.isEmpty { return callToken == nil ? nil : "Authorization" }
        let appToken = callToken == nil ? params.appToken : nil
        let harmless = harmlessFields ?? HarmlessFields.tracing
        let uncarried = headers.keys.filter { name in
            if appToken?.isCurrent(name, headers[name]) == true { return false }
            let lowercase = name.lowercased()
            return lowercase != "accept-language" && !harmless.contains(lowercase)
        }
        return uncarried.min() ?? (callToken == nil ? nil : "Authorization")
    }

    /// Checks that this call may be sent over a connection.
    ///
    /// Without its header fields, a call would not be the one that was made: it would run as the connection's user, for
    /// another tenant, or without its precondition.
    /// - Throws: ``FeathersError/Code/badRequest``, before sending, that names the header field.
    package func checkConnectionMayCarry() throws(FeathersError) {
        guard let field = uncarriedField else { return }
        let reason =
            callToken == nil
            ? "a connection does not carry its header field '\(field)'. "
                + "If the field is not needed, add it to 'harmlessHeaders'"
            : "it has a token of its own, and the connection belongs to the app's user"
        throw .refused(
            """
            '\(method)' on service '\(path)' was not sent: \(reason). \
            Otherwise, send this call over REST, for example with a mixed transport
            """)
    }

    /// Returns everything about the headers and the token of a read that its response may depend on: lowercase names
    /// with digests of their values. Reads that are equal otherwise share a response only if these are equal.
    package func distinguishingFields(in app: FeathersApp?) -> [String: String] {
        if params.headers.isEmpty, callToken == nil { return [:] }
        let harmless = app?.harmlessFields ?? HarmlessFields.tracing
        var fields: [String: String] = [:]
        for (name, value) in params.headers {
            let name = name.lowercased()
            if !harmless.contains(name) { fields[name] = SHA256.hex(value.utf8) }
        }
        // No header field has this name.
        if let callToken { fields[":token"] = callToken.digest }
        return fields
    }
}
