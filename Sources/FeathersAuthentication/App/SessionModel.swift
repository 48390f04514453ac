public import FeathersCore
public import Observation

/// The sign-in of an app for SwiftUI views.
///
/// ```swift
/// @State private var session = SessionModel(app, of: User.self)
/// var body: some View {
///     Group {
///         if session.identity != nil {
///             ContentView(session.user)
///         } else {
///             SignInView(session)
///         }
///     }
///     .task { await session.run() }
/// }
/// ```
@MainActor @Observable
public final class SessionModel<User: Decodable & Sendable> {
    /// The sign-in state of the app.
    public private(set) var state: AuthenticationState
    /// The user who is signed in; nil if there is none. At launch, the user of the stored token, even before the server
    /// has accepted it.
    public private(set) var identity: Identity?
    /// The signed-in user, as the server sent it with the last sign-in; nil if there is none. At launch, and without a
    /// connection, the user who was stored with the sign-in.
    ///
    /// Nil too if the server sends no user, or one that does not match the model. The app's diagnostics then have a
    /// warning.
    public private(set) var user: User?
    /// Why the last sign-in or log-out failed; nil if it did not, or was cancelled.
    public private(set) var error: (any Error)?
    /// The sign-ins in progress that this model has begun.
    private var attempts = 0

    @ObservationIgnored private let app: FeathersApp
    /// The number of sign-ins and log-outs that this model has begun.
    @ObservationIgnored private var count = 0

    /// Creates a model of an app's sign-in. It does not follow the app until you call ``run()``.
    /// - Parameters:
    ///   - app: The app, with authentication.
    ///   - model: The model of the users.
    public init(_ app: FeathersApp, of model: User.Type) {
        (self.app, state, identity) = (app, app.authentication, app.identity)
        user = decoded(app.senderAndUser.user)
    }

    /// Whether the server has accepted the sign-in of a user. At launch, and without a connection, it has not yet:
    /// ``identity`` says whose data to show.
    public var isSignedIn: Bool { state.result != nil }

    /// Whether a sign-in is in progress.
    public var isSigningIn: Bool { attempts > 0 || state == .authenticating }

    /// Follows the app's sign-in until the task is cancelled.
    public func run() async {
        async let identities: Void = followIdentity()
        async let users: Void = followUser()
        for await state in app.authenticationUpdates() { self.state = state }
        await (_, _) = (identities, users)
    }

    private func followUser() async {
        for await user in app.userRecordUpdates() { self.user = decoded(user) }
    }

    private func decoded(_ record: JSONValue?) -> User? {
        do { return try record.map { try app.decodeUser($0) } } catch {
            app.diagnostics.log(
                .warning, .authentication,
                "\(FeathersError.undecodable("The signed-in user", as: User.self, error).message)")
            return nil
        }
    }

    private func followIdentity() async {
        for await identity in app.identityUpdates() { self.identity = identity }
    }

    /// Signs in, see ``FeathersApp/authenticate(_:)``. If that fails, sets ``error``.
    public func signIn(_ credentials: AuthenticationCredentials) async {
        await attempt { try await $0.authenticate(credentials) }
    }

    /// Signs in with the stored token, if there is one, see ``FeathersApp/reauthenticate(force:)``. If the
    /// server refuses it or cannot be reached, sets ``error``.
    public func restore() async {
        await attempt { app in
            do {
                try await app.reauthenticate()
            } catch let error as FeathersError where error.code == .notAuthenticated && error.execution == .neverSent {
                // No token is stored.
            }
        }
    }

    /// Logs out. No user is signed in afterward.
    ///
    /// If the token cannot be removed or the server refuses to be notified, sets ``error``. A server that cannot be
    /// reached is no error.
    public func logOut() async {
        await perform { app in
            do { try await app.logOut() } catch let error as FeathersError where error.execution == .neverSent {
                if error.code != .unavailable, error.code != .timeout { throw error }
            }
        }
    }

    private func attempt(_ work: (FeathersApp) async throws -> Void) async {
        attempts += 1
        await perform(work)
        attempts -= 1
    }

    private func perform(_ work: (FeathersApp) async throws -> Void) async {
        count += 1
        let number = count
        error = nil
        do {
            try await work(app)
        } catch {
            // A later sign-in or log-out has replaced this one, and says how it ended.
            if number == count, !(error is CancellationError) { self.error = error }
        }
        (state, identity, user) = (app.authentication, app.identity, decoded(app.senderAndUser.user))
    }
}

extension SessionModel<JSONValue> {
    /// Creates a model of an app's sign-in, with the user as JSON. It does not follow the app until you call ``run()``.
    public convenience init(_ app: FeathersApp) { self.init(app, of: JSONValue.self) }
}
