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
            permission == .wait(id)
                && actions == [.begin(id, .refresh(try #require(session.signedIn).token.result))])
        #expect(session.callBegan(at: .seconds(second)).permission == .wait(id))
        // A call waits for one renewal at most.
        #expect(session.callBegan(at: .seconds(second), hasRenewed: true).permission == .send(session.signedIn))
        // After a failure that may pass, the present token serves on for a while.
        let failed = session.renewalFailed(id, isRejection: false, at: .seconds(second), random: 0)
        #expect(failed == [.settle(id, .postponed)])
        #expect(session.callBegan(at: .seconds(second)).permission == .send(session.signedIn))
        // Nor does a refusal begin another one so soon.
        let present = try #require(session.signedIn)
        #expect(session.tokenRejected(of: present, at: .seconds(second)).permission == .fail)
        #expect(session.callBegan(at: .seconds(second + 1)).permission == .wait(id + 1))
    }

    @Test("A refresh that just came is not followed by another when the server refuses it over the connection")
    func freshRejection() throws {
        var session = try InitialState.announcing.session()
        let id = try #require(session.pendingID)
        let actions = session.renewalFailed(id, isRejection: true, at: .zero, random: 0)
        #expect(actions.contains(.publish(.expired)))
    }

    @Test("A token that the server refuses over a new connection is refreshed and announced, within one attempt")
    func rejectedAnnouncement() throws {
        var session = try InitialState.signedIn.session()
        session.connectionOpened()
        guard case .wait(let id) = session.needBeforeCalls(at: .zero).permission else {
            Issue.record("It does not wait")
            return
        }
        let present = try #require(session.signedIn).token.result
        let rejected = session.renewalFailed(id, isRejection: true, at: .zero, random: 0)
        #expect(rejected == [.begin(id, .refresh(present))])
        let fetched = session.renewed(id, try .sample("new"), at: .zero, random: 0)
        let new = try IssuedToken.sample("new").result
        #expect(fetched == [.publish(.signedIn(new)), .begin(id, .announce(new))])
        let accepted = try IssuedToken.sample("new", connection: session.connectionNumber)
        #expect(session.renewed(id, accepted, at: .zero, random: 0) == [.settle(id, .signedIn(new))])
        #expect(session.needBeforeCalls(at: .zero).permission == .send(session.signedIn))
    }

    @Test("Refreshes keep the pace of reconnection, whatever the server issues")
    func pace() throws {
        for keepsConnection in [true, false] {
            var session = try InitialState.signedIn.session(keepsConnection: keepsConnection)
            var (moments, now) = ([Duration](), Duration.seconds(80))
            while now < .seconds(140) {
                let answer =
                    keepsConnection ? session.needDuringCalls(at: now) : session.callBegan(at: now, hasRenewed: false)
                if case .wait(let id) = answer.permission, answer.actions.contains(where: { $0.begins }) {
                    moments.append(now)
                    // Due at once, and accepted by the connection.
                    var token = try IssuedToken.sample("again", connection: session.connectionNumber)
                    (token.expiry, token.refreshMoment) = (now + .seconds(1000), now)
                    _ = session.renewed(id, token, at: now, random: 0)
                }
                now += .milliseconds(100)
            }
            let pauses = zip(moments.dropFirst(), moments).map { $0 - $1 }
            #expect(pauses.prefix(3) == [.seconds(1), .seconds(2), .seconds(4)])
            #expect(pauses.dropFirst(3).allSatisfy { $0 == .seconds(5) } && pauses.count >= 12)
        }
    }
}

extension AuthenticationSession.Action {
    fileprivate var begins: Bool { if case .begin = self { true } else { false } }
}
