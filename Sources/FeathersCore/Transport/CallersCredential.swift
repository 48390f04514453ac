extension ServiceRequest {
    /// The header field by which the caller, a hook or a service makes this call as a certain user; nil if there is none.
    ///
    /// That is `Authorization`, `Cookie`, or the field that the app's authentication uses, in any case. The current user's token, which the app has
    /// added itself, does not count, because the connection belongs to that user too.
    package var callersCredential: String? {
        let headers = params.headers
        guard !headers.isEmpty else { return nil }
        let token = params.token
        return headers.keys.filter { name in
            if token?.isCurrent(name, headers[name]) == true { return false }
            let lowercase = name.lowercased()
            return lowercase == "authorization" || lowercase == "cookie" || lowercase == credentialField
        }.min()
    }

    /// Checks that this call may be sent over a connection that belongs to a user.
    ///
    /// A connection carries no header fields, so a call with credentials of its own would run as the connection's user.
    /// - Throws: ``FeathersError/Code/badRequest``, before sending, that names the header field.
    package func checkConnectionMayCarry() throws(FeathersError) {
        guard let field = callersCredential else { return }
        throw .refused(
            """
            '\(method)' on service '\(path)' was not sent: a connection does not carry its header field '\(field)', so the call would run as the \
            connection's user. Send this call over REST, for example with a mixed transport, or sign in
            """)
    }
}
