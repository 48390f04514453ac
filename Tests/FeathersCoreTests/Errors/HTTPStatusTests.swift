import FeathersCore
import Testing

@Suite("The HTTP status of an error")
struct HTTPStatusTests {
    @Test(
        "is its code, except for timeouts and codes that are not an HTTP status of an error",
        arguments: [
            (.badRequest, 400), (.notAuthenticated, 401), (.notFound, 404), (.unprocessable, 422),
            (.tooManyRequests, 429), (.generalError, 500), (.badGateway, 502), (.unavailable, 503), (413, 413),
            (504, 504), (599, 599), (.timeout, 504), (0, 500), (-1, 500), (200, 500), (302, 500), (600, 500),
            (1001, 500),
        ] as [(FeathersError.Code, Int)])
    func status(_ code: FeathersError.Code, _ status: Int) {
        for execution in [FeathersError.Execution.answered, .neverSent, .mayHaveExecuted] {
            #expect(FeathersError(code, "-", execution: execution).httpStatus == status)
        }
    }

    @Test("says of a server that it is unwell only if that is not the fault of one call")
    func unwell() {
        let unwell: [FeathersError.Code] = [.timeout, .badGateway, .unavailable, 504]
        #expect(unwell.allSatisfy { FeathersError($0, "-").saysServerIsUnwell })
        let others = FeathersError.Code.classes.map(\.code).filter { !unwell.contains($0) } + [0, 418, 507]
        #expect(others.allSatisfy { !FeathersError($0, "-").saysServerIsUnwell })
    }

    @Test("tells what reached the server from what did not, and from what is not known")
    func reached() {
        func reached(_ code: FeathersError.Code, _ execution: FeathersError.Execution, response: Bool = false) -> Bool?
        {
            var error = FeathersError(code, "-", execution: execution)
            if response { error.response = FeathersError.Response(status: code.rawValue, body: []) }
            return error.reachedServer
        }
        #expect(reached(.notFound, .answered) == true && reached(.unavailable, .answered) == true)
        #expect(reached(.timeout, .answered) == true && reached(.generalError, .answered) == true)
        #expect(reached(.unavailable, .neverSent) == false && reached(.unavailable, .mayHaveExecuted) == false)
        #expect(reached(.timeout, .neverSent) == false)
        #expect(reached(.badGateway, .answered, response: true) == false)
        #expect(reached(504, .answered, response: true) == false)
        #expect(reached(.timeout, .mayHaveExecuted) == nil && reached(.badRequest, .neverSent) == nil)
    }
}
