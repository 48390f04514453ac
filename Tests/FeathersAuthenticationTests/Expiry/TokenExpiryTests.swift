import FeathersCore
import Foundation
import Testing

@testable import FeathersAuthentication

@Suite("The end of a token on our clock")
struct TokenExpiryTests {
    /// Seconds after the sign-in at which the token ends, by our clock; the server's is so many seconds ahead of it.
    private func end(lifetime: Double, ahead: Double, age: Double = 0, isNew: Bool = true) throws -> Double? {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let token = try SampleToken.make(issuedAt: (1_700_000_000 + ahead - age).rounded(.down), lifetime: lifetime)
        let moment = TokenExpiry.moment(
            of: UnverifiedPayload(of: token), askedFor: SignInMoment(now: .seconds(500), date: date), isNew: isNew)
        return moment.map { ($0 - .seconds(500)) / .seconds(1) }
    }

    @Test(
        "is what the token says where clocks agree, and counted from the sign-in where they do not",
        arguments: [
            (900, 0, 900), (900, 0.9, 900), (900, -0.5, 899), (900, -600, 300),
            // Ahead of us: it would be refreshed too late. Far behind: it would seem to have ended.
            (900, 600, 899), (900, 86_400, 899), (900, -900, 899), (900, -86_400, 899), (1, 5, 0.5),
        ] as [(Double, Double, Double)])
    func skew(lifetime: Double, ahead: Double, expected: Double) throws {
        #expect(try end(lifetime: lifetime, ahead: ahead) == expected)
    }

    @Test("of a stored token is what it says, and unknown where the server takes what seems to have ended")
    func stored() throws {
        #expect(try end(lifetime: 900, ahead: 0, age: 300, isNew: false) == 600)
        #expect(try end(lifetime: 900, ahead: 0, age: 1000, isNew: false) == nil)
    }

    @Test("is unknown where the token says nothing that can be counted with")
    func unknown() throws {
        let moment = SignInMoment(now: .zero, date: Date(timeIntervalSince1970: 1_700_000_000))
        for claims: JSONValue in [[:], ["exp": "soon"], ["iat": 1_700_000_000, "exp": 1_600_000_000]] {
            #expect(
                TokenExpiry.moment(
                    of: UnverifiedPayload(of: try SampleToken.make(claims)), askedFor: moment, isNew: true) == nil)
        }
        #expect(TokenExpiry.moment(of: nil, askedFor: moment, isNew: true) == nil)
    }

    @Test(
        "comes after a refresh a fifth of the lifetime earlier, a minute at most",
        arguments: [(2, 0.4), (100, 20), (300, 60), (86_400, 60)] as [(Double, Double)])
    func lead(lifetime: Double, lead: Double) throws {
        let payload = UnverifiedPayload(of: try SampleToken.make(issuedAt: 0, lifetime: lifetime))
        let life = Duration.seconds(lifetime)
        #expect(TokenExpiry.lead(nil, of: payload, remaining: .seconds(1), isNew: false) == .seconds(lead))
        #expect(TokenExpiry.lead(nil, of: payload, remaining: life, isNew: true) == .seconds(lead))
        #expect(TokenExpiry.lead(nil, of: nil, remaining: life, isNew: true) == .seconds(lead))
    }

    @Test(
        "comes after a refresh half of the token's life earlier, if the app asks for more",
        arguments: [(60, 30, 30, 15), (60, 0.02, 0.02, 0.01), (10, 30, 30, 10), (-5, 1, 1, -5), (60, 900, 20, 10)]
            as [(Double, Double, Double, Double)])
    func longLead(asked: Double, lifetime: Double, remaining: Double, lead: Double) throws {
        let payload = UnverifiedPayload(of: try SampleToken.make(issuedAt: 0, lifetime: lifetime))
        let found = TokenExpiry.lead(.seconds(asked), of: payload, remaining: .seconds(remaining), isNew: true)
        #expect(abs(found / .seconds(1) - lead) < 1e-6)
    }
}
