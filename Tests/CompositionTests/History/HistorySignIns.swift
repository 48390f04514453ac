import Feathers
import FeathersCore
import FeathersSupport

@testable import FeathersTesting

/// Users, tokens, processes and connections in a history.
extension History {
    func signIn() async {
        let user = pick(ModelServer.users)
        report.note(user)
        let app = app
        isSigningIn = callsWait && world.way == .socket
        await make({ $0.request.path == "authentication" }) { _ = try? await app.signIn(user) }
    }

    func logOut() async {
        isSigningIn = false
        try? await app.logOut()
    }

    func endTokens() async throws {
        guard app.identity != nil else { return }
        let refreshable = chance(3, in: 4)
        let user = process.user
        report.note("of \(user)\(refreshable ? "" : ", for good")")
        let isConnectionsUser = server.user(of: process.model.connection) == user
        server.endTokens(of: user, refreshable: refreshable)
        // As FeathersJS does, when a token ends.
        if isConnectionsUser {
            process.model.connection?.drop(.serverDisconnect)
            process.model.connection?.restore()
        }
        if isOnline { try await settle() }
    }

    func restart(isOnline: Bool) async throws {
        await process.end()
        self.isOnline = isOnline
        // The first call tries the stored token.
        isSigningIn = callsWait
        process = try await HistoryProcess(world, isOnline: isOnline)
        if isOnline { try await settle() }
    }

    func cut() {
        guard isOnline else { return }
        isOnline = false
        // A stream alone is opened again at once.
        if world.way == .feathers6, chance(1, in: 2) {
            isOnline = true
            return server.cutStreams()
        }
        // Over two transports, one may be away alone.
        if world.way == .mixed, chance(1, in: 2) {
            process.model.connection?.drop()
        } else {
            server.setAway(true, process.model)
        }
    }

    func restore() async throws {
        guard !isOnline else { return }
        let isRecovered = chance(1, in: 4)
        report.note(isRecovered ? "recovered" : "")
        server.state.update { $0.isAway = false }
        process.model.connection?.restore(recovered: isRecovered)
        isOnline = true
        try await settle()
    }

    /// Waits until the connection stands, what waited for it is done, and the token in use is one that the server
    /// accepts.
    func settle() async throws {
        isSigningIn = false
        if let connection = process.model.connection {
            // Not the status, which is still that of a connection that was lost a moment ago.
            try await connection.connection.line.wait { line in
                if case .closed = line.life { true } else { line.isStanding }
            }
            if case .closed = connection.status { return try await restart(isOnline: true) }
        }
        try await process.model.waitUntilConnected()
        for task in process.pending { await task.value }
        process.pending = []
        _ = try? await app.notes.find(params: .caching(.networkOnlyNoCache))
    }
}
