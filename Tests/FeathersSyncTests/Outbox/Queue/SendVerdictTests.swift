import FeathersCore
import Testing

@testable import FeathersSync

@Suite("What a failed attempt means")
struct SendVerdictTests {
    struct Case: Sendable {
        let code: FeathersError.Code
        let execution: FeathersError.Execution
        let unkeyed: SendVerdict.Course
        let keyed: SendVerdict.Course
        let mayHaveExecuted: Bool
    }

    private static func same(
        _ code: FeathersError.Code, _ execution: FeathersError.Execution, _ course: SendVerdict.Course,
        _ mayHaveExecuted: Bool = false
    ) -> Case {
        Case(code: code, execution: execution, unkeyed: course, keyed: course, mayHaveExecuted: mayHaveExecuted)
    }

    private static func uncertain(
        _ code: FeathersError.Code, _ execution: FeathersError.Execution, keyed: SendVerdict.Course
    ) -> Case {
        Case(code: code, execution: execution, unkeyed: .ask(.unknown), keyed: keyed, mayHaveExecuted: true)
    }

    static let cases: [Case] = [
        same(.unavailable, .neverSent, .waitForServer), same(.timeout, .neverSent, .waitForServer),
        same(.badGateway, .neverSent, .waitForServer),
        same(.generalError, .neverSent, .waitForServer), same(.notAuthenticated, .neverSent, .waitForSignIn),
        same(.badRequest, .neverSent, .ask(.rejected)), same(413, .neverSent, .ask(.rejected)),
        same(.notFound, .neverSent, .ask(.rejected)),
        same(.notAuthenticated, .answered, .waitForSignIn), same(.tooManyRequests, .answered, .retry(after: nil)),
        same(.conflict, .answered, .ask(.conflict)), same(412, .answered, .ask(.conflict)),
        same(.badRequest, .answered, .ask(.rejected)),
        same(.forbidden, .answered, .ask(.rejected)), same(.notFound, .answered, .ask(.rejected)),
        same(.gone, .answered, .ask(.rejected)),
        same(.unprocessable, .answered, .ask(.rejected)), same(.notImplemented, .answered, .ask(.rejected)),
        uncertain(.timeout, .answered, keyed: .retry(after: nil)),
        uncertain(.generalError, .answered, keyed: .retry(after: nil)),
        uncertain(.badGateway, .answered, keyed: .retry(after: nil)),
        uncertain(.unavailable, .answered, keyed: .retry(after: nil)),
        uncertain(504, .answered, keyed: .retry(after: nil)),
        uncertain(.unavailable, .mayHaveExecuted, keyed: .waitForServer),
        uncertain(.timeout, .mayHaveExecuted, keyed: .waitForServer),
        uncertain(.badGateway, .mayHaveExecuted, keyed: .waitForServer),
        same(302, .answered, .ask(.unknown), true),
    ]

    @Test("Only what was never sent, or refused for now, is sent again without a key", arguments: cases)
    func courses(_ one: Case) {
        let error = FeathersError(one.code, "no", execution: one.execution)
        for isKeyed in [false, true] {
            let verdict = SendVerdict(error, isKeyed: isKeyed)
            #expect(verdict.course == (isKeyed ? one.keyed : one.unkeyed), "\(error), keyed: \(isKeyed)")
            #expect((verdict.execution == .mayHaveExecuted) == one.mayHaveExecuted, "\(error), keyed: \(isKeyed)")
        }
    }

    @Test("The server's delay is the one of the header, or of the error's data")
    func delays() {
        var error = FeathersError(.tooManyRequests, "slow", data: ["retryAfter": 7])
        #expect(SendVerdict(error, isKeyed: false).course == .retry(after: .seconds(7)))
        error.retryAfter = .seconds(3)
        #expect(SendVerdict(error, isKeyed: false).course == .retry(after: .seconds(3)))
        #expect(
            SendVerdict(FeathersError(.unavailable, "busy", data: ["retryAfter": -1]), isKeyed: true).course
                == .retry(after: nil))
        #expect(
            SendVerdict(FeathersError(.unavailable, "busy", data: ["retryAfter": 1e300]), isKeyed: true).course
                == .retry(after: .seconds(1e9)))
    }

    @Test(
        "Delays grow to their maximum, and chance takes no more than its part",
        arguments: [(1, 1.0), (2, 2.0), (3, 4.0), (7, 60.0), (1000, 60.0)])
    func growing(_ failures: Int, _ seconds: Double) {
        let retry = OutboxRetry()
        #expect(retry.delay(after: failures, random: 0) == .seconds(seconds))
        #expect(retry.delay(after: failures, random: 0.5) == .seconds(seconds * 0.75))
    }
}
