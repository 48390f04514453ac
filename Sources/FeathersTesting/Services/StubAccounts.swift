public import FeathersCore
import FeathersSupport
import Foundation

/// The accounts of a stub server with sign-in: who may sign in, and which tokens are valid.
///
/// ```swift
/// let accounts = StubAccounts(["ada@example.com": "secret"])
/// transport.stub(accounts)
/// try await app.authenticate(.local(email: "ada@example.com", password: "secret"))
/// ```
///
/// The service `authentication` signs in with the strategies `local` and `jwt`, as FeathersJS does, and issues tokens
/// that name the user. A user's record has
/// the email address as its `id` and `email`, unless `users` says otherwise. Every other call
/// that is not made by a user who is signed in fails with `FeathersError.Code.notAuthenticated`, even if a stub is
/// registered for it. Over a connection, the user is the connection's, until it ends.
public final class StubAccounts: Sendable {
    private struct State: Sendable {
        var passwords: [String: String]
        /// The users of the valid tokens.
        var tokens: [String: String] = [:]
        var issued = 0
        /// The token of a connection, and the number of the connection.
        var connection: (token: String, number: Int)?
    }

    private let state: Locked<State>
    private let properties: [String: JSONObject]
    private let allows: @Sendable (ServiceRequest) -> Bool

    /// Creates accounts.
    /// - Parameters:
    ///   - passwords: The passwords by email address.
    ///   - users: The properties of users by email address, such as `["ada@example.com": ["id": 1, "name": "Ada"]]`.
    ///   - allows: The calls that need no sign-in, such as the creation of a user.
    public init(
        _ passwords: [String: String], users: [String: JSONObject] = [:],
        allowing allows: @escaping @Sendable (ServiceRequest) -> Bool = { _ in false }
    ) {
        state = Locked(State(passwords: passwords))
        self.properties = users
        self.allows = allows
    }

    /// Makes every token invalid, as if it had expired: calls fail with `FeathersError.Code.notAuthenticated` until
    /// the user signs in with a password again.
    public func revokeTokens() { state.withLock { ($0.tokens, $0.connection) = ([:], nil) } }

    /// Responds to a call of the service `authentication`.
    /// - Parameter connection: The number of the connection; nil for a transport without one.
    fileprivate func respond(to request: ServiceRequest, over connection: Int?) throws -> JSONValue {
        switch request.method {
        case .create: try signIn(request.data ?? .null, over: connection)
        case .remove: try logOut(request, over: connection)
        default: throw FeathersError(.methodNotAllowed, "Method '\(request.method)' not allowed")
        }
    }

    private func signIn(_ data: JSONValue, over connection: Int?) throws -> JSONValue {
        try state.withLock { state in
            let token: String
            switch data["strategy"] {
            case "local":
                guard let email = data["email"]?.string, let password = data["password"]?.string,
                    state.passwords[email] == password
                else { throw FeathersError(.notAuthenticated, "Invalid login") }
                state.issued += 1
                token = try newToken(state.issued, of: email)
                state.tokens[token] = email
            case "jwt": token = data["accessToken"]?.string ?? ""
            default: throw FeathersError(.badRequest, "Authentication information has invalid strategy")
            }
            guard let email = state.tokens[token] else { throw FeathersError(.notAuthenticated, "jwt expired") }
            if let connection { state.connection = (token, connection) }
            return response(token, email)
        }
    }

    private func response(_ token: String, _ email: String) -> JSONValue {
        ["accessToken": .string(token), "user": .object(user(email))]
    }

    private func user(_ email: String) -> JSONObject {
        var user: JSONObject = ["id": .string(email), "email": .string(email)]
        for (property, value) in properties[email] ?? [:] { user[property] = value }
        return user
    }

    /// Returns a JSON Web Token that names the user, as those of FeathersJS do, so that an app knows its user when it
    /// starts without a connection.
    private func newToken(_ number: Int, of email: String) throws -> String {
        let id = user(email)["id"].flatMap { ServiceID($0)?.key } ?? email
        let parts: [JSONValue] = [["alg": "none"], ["sub": .string(id), "jti": .string("\(number)")], "stub"]
        return try parts.map { part in
            Data(try part.serialized()).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }.joined(separator: ".")
    }

    private func logOut(_ request: ServiceRequest, over connection: Int?) throws -> JSONValue {
        guard let token = token(of: request, over: connection),
            let email = state.withLock({ $0.tokens.removeValue(forKey: token) })
        else { throw Self.refusal }
        return response(token, email)
    }

    /// Whether a call must be refused, because its caller is not signed in.
    fileprivate func refuses(_ request: ServiceRequest, over connection: Int?) -> Bool {
        guard request.path != Self.path, !allows(request) else { return false }
        guard let token = token(of: request, over: connection) else { return true }
        return state.withLock { $0.tokens[token] == nil }
    }

    private func token(of request: ServiceRequest, over connection: Int?) -> String? {
        if let connection {
            return state.withLock { $0.connection?.number == connection ? $0.connection?.token : nil }
        }
        let field = request.params.headers.first { $0.key.lowercased() == "authorization" }?.value
        return field.map { $0.lowercased().hasPrefix("bearer ") ? String($0.dropFirst(7)) : $0 }
    }

    fileprivate static let path = "authentication"
    fileprivate static var refusal: FeathersError { FeathersError(.notAuthenticated, "Not authenticated") }
}

extension StubTransport {
    /// Makes the stub a server with sign-in: users sign in with the accounts, and other calls need a valid token.
    /// - Parameter accounts: The accounts. Several transports may share them, like the servers of one database.
    public func stub(_ accounts: StubAccounts) {
        stub("authentication", with: ServiceStub { try accounts.respond(to: $0, over: nil) })
        stub(where: { accounts.refuses($0, over: nil) }, with: .error(StubAccounts.refusal))
    }
}

extension StubRealTimeTransport {
    /// Makes the stub a server with sign-in: a connection belongs to the user who signs in over it, and other calls
    /// need such a user.
    /// - Parameter accounts: The accounts. Use them for one real-time transport only.
    public func stub(_ accounts: StubAccounts) {
        let number: @Sendable () -> Int = { [line = connection.line] in line.current.linkCount }
        stub("authentication", with: ServiceStub { try accounts.respond(to: $0, over: number()) })
        stub(where: { accounts.refuses($0, over: number()) }, with: .error(StubAccounts.refusal))
    }
}
