import FeathersCore
import Testing

@testable import FeathersAuthentication

@Suite("The number of a sign-in")
struct SignInNumberTests {
    /// A token of a user, known by a JSON Web Token's `sub` or by the user's id.
    private func token(_ user: String?, subject: String? = nil, _ text: String = "t") throws -> IssuedToken {
        let token = try subject.map { try SampleToken.make(["sub": .string($0), "text": .string(text)]) } ?? text
        return IssuedToken(
            result: try AuthenticationResult([
                "accessToken": .string(token), "user": ["id": user.map(JSONValue.string) ?? .null],
            ]),
            expiry: .seconds(100), refreshMoment: .seconds(80), canRefresh: true)
    }

    private func signedIn(_ token: IssuedToken) -> AuthenticationSession {
        var session = AuthenticationSession(keepsConnection: false)
        _ = session.signInSucceeded(session.signInRequested(.jwt("x")).id, token)
        return session
    }

    @Test("changes when the app signs in with credentials, already as it asks")
    func credentials() throws {
        var session = signedIn(try token("alice"))
        let number = session.signIn
        #expect(session.signedIn?.signIn == number && session.signedIn?.name == "alice")
        let id = session.signInRequested(.jwt("y")).id
        #expect(session.signIn != number)
        let asked = session.signIn
        _ = session.signInSucceeded(id, try token("bob"))
        #expect(session.signIn == asked && session.signedIn?.signIn == asked && session.signedIn?.name == "bob")
    }

    @Test("changes at a log-out and at the end of a sign-in")
    func ends() throws {
        var session = signedIn(try token("alice"))
        let number = session.signIn
        _ = session.loggedOut()
        #expect(session.signIn != number)
        session = signedIn(try token("alice"))
        _ = session.expire()
        #expect(session.signIn != number)
    }

    @Test(
        "changes when a restore brings another user back, and only then",
        arguments: [
            ("alice", "alice", "t", false), ("alice", "bob", "t", true), ("alice", "alice", "other", false),
            // Without names the token is all there is.
            (nil, nil, "t", false), (nil, nil, "other", true),
        ] as [(String?, String?, String, Bool)])
    func restore(first: String?, second: String?, text: String, changes: Bool) throws {
        var session = signedIn(try token(first))
        let number = session.signIn
        let id = try #require(session.restoreRequested(force: true).id)
        #expect(session.signIn == number)
        _ = session.signInSucceeded(id, try token(second, text))
        #expect((session.signIn != number) == changes)
        #expect(session.signedIn?.signIn == session.signIn)
    }

    @Test("changes when a forced restore finds no user", arguments: [false, true])
    func failedRestore(isRejection: Bool) throws {
        var session = signedIn(try token("alice"))
        let number = session.signIn
        let id = try #require(session.restoreRequested(force: true).id)
        _ = session.signInFailed(id, isRejection: isRejection)
        #expect((session.signIn != number) == isRejection)
    }

    @Test("stays with a refresh, unless that brings another user")
    func refresh() throws {
        var session = signedIn(try token("alice", subject: "a"))
        let number = session.signIn
        _ = session.renewed(
            session.beginRefresh(isUrgent: false).id, try token("alice", subject: "a", "second"), at: .zero, random: 0)
        #expect(session.signIn == number && session.signedIn?.name == "a")
        _ = session.renewed(
            session.beginRefresh(isUrgent: false).id, try token("alice", "opaque"), at: .zero, random: 0)
        #expect(session.signIn == number && session.signedIn?.name == "a")
        _ = session.renewed(session.beginRefresh(isUrgent: false).id, try token("bob", "other"), at: .zero, random: 0)
        #expect(session.signIn != number && session.signedIn?.name == "bob")
    }
}
