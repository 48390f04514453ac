import Testing

@testable import FeathersAuthentication

@Suite("The session, every state and every event")
struct SessionTableTests {
    @Test("leads where the table says", arguments: InitialState.allCases, SessionEvent.allCases)
    func table(state: InitialState, event: SessionEvent) throws {
        var session = try state.session()
        #expect(try event.happen(to: &session) == state.table[event] ?? state.name)
    }

    @Test("Without a connection it is the calls that refresh, and wait for it", arguments: [79, 80, 101])
    func pull(second: Int) throws {
        var session = try InitialState.signedIn.session(keepsConnection: false)
        let (permission, actions) = session.callBegan(at: .seconds(second))
        guard second >= 80 else { return #expect(permission == .send(session.signedIn) && actions.isEmpty) }
        let id = try #require(session.pendingID)
        #expect(
            permission == .wait(id) && actions == [.begin(id, .refresh(try #require(session.signedIn).token.result))])
        #expect(session.callBegan(at: .seconds(second)).permission == .wait(id))
        // After a failure that may pass, the present token serves on for a while.
        #expect(session.refreshFailed(id, isRejection: false, at: .seconds(second)) == [.settle(id, .postponed)])
        #expect(session.callBegan(at: .seconds(second)).permission == .send(session.signedIn))
        #expect(session.callBegan(at: .seconds(second) + AuthenticationSession.retryPause).permission == .wait(id + 1))
    }

    @Test("A refresh that just came is not followed by another when the server refuses it over the connection")
    func freshRejection() throws {
        var session = try InitialState.announcing.session()
        #expect(session.announcementFailed("present2", isRejection: true, at: .zero).contains(.publish(.expired)))
    }

    @Test("The end of a connection is taken for the token's when that is near, or not known")
    func expiry() throws {
        var session = try InitialState.signedIn.session()
        #expect(!session.isExpiry(at: .seconds(70), lead: .seconds(20)))
        #expect(session.isExpiry(at: .seconds(80), lead: .seconds(20)))
        // Also after the sign-in has ended: the connection was known by that token.
        _ = session.expire()
        #expect(session.isExpiry(at: .seconds(99), lead: .seconds(2)))
        session.connectionOpened()
        #expect(!session.isExpiry(at: .seconds(99), lead: .seconds(2)))
    }
}
