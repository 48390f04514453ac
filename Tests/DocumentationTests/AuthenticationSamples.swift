import Feathers
import Foundation

// The samples of the article about authentication, each one as it stands there: `ReadmeTests` compares them.

private func setUp(_ url: URL, _ storage: any TokenStorage) throws -> FeathersApp {
    let app = FeathersApp(transport: .socketIO(url))
    try app.use(authentication: AuthenticationOptions(storage: storage))
    return app
}

private func strategies(_ app: FeathersApp, _ googleToken: String) async throws {
    try await app.authenticate(.local(email: "alice@example.com", password: "p4ssw0rd"))
    try await app.authenticate(
        .local(username: "alice", password: "p4ssw0rd", usernameField: "login"))
    try await app.authenticate(.oauth(strategy: "google", accessToken: googleToken))
    try await app.authenticate(
        AuthenticationCredentials(
            strategy: "sms", fields: ["phone": "+47 1", "code": "1234"]))
}

private struct Provider {
    func exchange(_ token: String?) async throws -> (access: String, refresh: String) { ("access", "refresh") }
}

private func refreshes(_ provider: Provider) -> [TokenRefresh] {
    let byService = TokenRefresh.service("refresh-tokens")
    let byFunction = TokenRefresh.function { result in
        let pair = try await provider.exchange(result.refreshToken)
        return .tokens(
            AuthenticationTokens(accessToken: pair.access, refreshToken: pair.refresh))
    }
    return [byService, byFunction]
}

func knowsUser() -> Hook {
    let addUser: Hook = { context in
        let user = context.app.authentication.result?.user
        context.data?["userId"] = user?["id"]
    }
    return addUser
}

actor Drafts: ServiceProtocol {
    private var drafts: [String: [JSONValue]] = [:]

    func find(_ params: Params) async throws -> JSONValue {
        .array(drafts[try owner(params)] ?? [])
    }

    func create(_ data: JSONValue, _ params: Params) async throws -> JSONValue {
        drafts[try owner(params), default: []].append(data)
        return data
    }

    private func owner(_ params: Params) throws -> String {
        guard let user = params[Authentication.self]?.user?["id"] else {
            throw FeathersError(.notAuthenticated, "Sign in first")
        }
        return "\(user)"
    }
}

private func asAnother(_ app: FeathersApp, _ reports: Service<JSONValue>, _ theirToken: String) async throws
    -> JSONValue
{
    let report = try await app.withToken(theirToken) {
        try await reports.create(["month": 5])
    }
    return report
}

private func requiringToken(_ app: FeathersApp) async throws -> JSONValue {
    try app.use(authentication: AuthenticationOptions { $0.requiresToken = true })
    let settings = try await app.asOwnUser { try await app.service("settings").get(1) }
    return settings
}

private func identities(_ app: FeathersApp, show: (String?) -> Void) async {
    for await identity in app.identityUpdates() { show(identity?.name) }
}

func ownAuthentication(_ app: FeathersApp, _ account: String, _ key: String) {
    app.setIdentity(Identity(account))
    app.use(hooks: Hooks(before: [{ context in context.params.headers["X-API-Key"] = key }]))
}

#if canImport(Security)
    private func keychain() -> AuthenticationOptions {
        let options = AuthenticationOptions(
            storage: KeychainTokenStorage(accessGroup: "TEAMID.com.example.shared"),
            refresh: .service("refresh-tokens")
        )
        return options
    }
#endif

@MainActor
private final class Model {
    private let app = FeathersApp()
    private var message = ""

    func signIn(email: String, password: String) async {
        do {
            try await app.authenticate(.local(email: email, password: password))
        } catch FeathersError.Code.notAuthenticated {
            message = "Wrong e-mail address or password"
        } catch {
            message = "The server cannot be reached"
        }
    }
}

private func server(_ url: URL, _ secret: String, makeReports: (FeathersApp) async throws -> Void) async throws {
    let account = AuthenticationCredentials.local(
        email: "reports@example.com", password: secret)
    let app = FeathersApp(transport: .rest(url))
    try app.use(
        authentication: AuthenticationOptions(
            storage: FileTokenStorage(directory: URL(filePath: "/var/lib/reports/tokens")),
            refresh: .function { _ in .credentials(account) }))

    try await withFeathersApp(app) { app in
        try await app.reauthenticate(or: account)
        try await makeReports(app)
    }
}
