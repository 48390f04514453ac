extension FeathersApp {
    /// Returns the record of the signed-in user, as the server sent it with the last sign-in.
    ///
    /// ```swift
    /// let me = try app.user(of: User.self)
    /// ```
    /// The record is stored with the sign-in, so it is there without a connection too. Its properties have the types of
    /// the server: where users have numbers as ids, `me.id` is a number, although the name of ``identity`` is text. To
    /// follow changes of the record, read a live query of the users. Like ``identity``, it is the app's own user in calls
    /// on behalf of others too.
    /// - Returns: The user; nil if no one is signed in, or if the server sent no user with the sign-in. At launch, nil
    ///   until the stored token has been read, like ``identity``.
    /// - Throws: `DecodingError` if the record does not match the model.
    public func user<User: Decodable>(of model: User.Type = User.self) throws -> User? {
        try identityStore.signedIn.user.map { try decodeUser($0) }
    }

    /// Returns the record of the signed-in user, followed by every change.
    package func userRecordUpdates() -> AsyncStream<JSONValue?> { identityStore.userUpdates() }

    /// The sign-in, with the record of its user; nil if that is not known.
    package var senderAndUser: (sender: RequestSender, user: JSONValue?) { identityStore.signedIn }

    package func decodeUser<User: Decodable>(_ record: JSONValue) throws -> User {
        if let user = record as? User { return user }
        return try coding.decode(User.self, from: record)
    }

    /// Sets the record of a user, who is signed in or signs in next. Call ``identityChanged()`` afterward.
    package func recordUser(_ record: JSONValue?, of identity: Identity?) {
        identityStore.setUser(record, of: identity)
    }

    /// Calls a function after every change of the user or the user's record.
    package func observeUser(_ observer: @escaping @Sendable () -> Void) { identityStore.observeUser(observer) }
}
