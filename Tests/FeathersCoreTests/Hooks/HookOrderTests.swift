import FeathersCore
import Testing

/// The order FeathersJS 5.0.24 runs hooks in, measured there.
@Suite("Hook order")
struct HookOrderTests {
    static let wayIn = [
        "app.around.all>", "app.around.m>", "app.before.all", "app.before.m",
        "svc.around.all>", "svc.around.m>", "svc.before.all", "svc.before.m",
    ]
    static let wayOut = [
        "svc.after.all", "svc.after.m", "<svc.around.m", "<svc.around.all",
        "app.after.all", "app.after.m", "<app.around.m", "<app.around.all",
    ]

    /// What a hook does, and what runs because of it.
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var actions: [String: Hook] = [:]
        var methodFails = false
        let order: [String]
        /// The message of the failure the caller sees, or nil for a success.
        var failure: String?
        var result: JSONValue?
    }

    static let failing: Hook = { _ in throw FeathersError(.badRequest, "no") }
    static let rescuing: Hook = { $0.result = "rescued" }
    static let rescuingWithNull: Hook = { $0.result = .null }

    static let cases: [Case] = [
        Case(testDescription: "success", order: wayIn + ["METHOD"] + wayOut, result: ["id": 1]),
        Case(
            testDescription: "the method throws", methodFails: true,
            order: wayIn + ["METHOD", "svc.error.m", "svc.error.all", "app.error.m", "app.error.all"], failure: "method"
        ),
        Case(
            testDescription: "the service's before hook of the method throws", actions: ["svc.before.m": failing],
            order: wayIn + ["svc.error.m", "svc.error.all", "app.error.m", "app.error.all"], failure: "no"),
        Case(
            testDescription:
                "the service's before hook of all methods throws: its error hook of the method does not hear it",
            actions: ["svc.before.all": failing],
            order: wayIn.dropLast() + ["svc.error.all", "app.error.m", "app.error.all"], failure: "no"),
        Case(
            testDescription: "the app's before hook of all methods throws: the service is never entered",
            actions: ["app.before.all": failing],
            order: ["app.around.all>", "app.around.m>", "app.before.all", "app.error.all"], failure: "no"),
        Case(
            testDescription: "the app's before hook of the method throws", actions: ["app.before.m": failing],
            order: [
                "app.around.all>", "app.around.m>", "app.before.all", "app.before.m", "app.error.m", "app.error.all",
            ], failure: "no"),
        Case(
            testDescription: "an after hook throws", actions: ["svc.after.all": failing],
            order: wayIn + ["METHOD", "svc.after.all", "svc.error.m", "svc.error.all", "app.error.m", "app.error.all"],
            failure: "no"),
        Case(
            testDescription: "the app's after hook throws", actions: ["app.after.m": failing],
            order: wayIn + ["METHOD"] + wayOut.prefix(6) + ["app.error.m", "app.error.all"], failure: "no"),
        Case(
            testDescription:
                "the service's error hook of the method sets a result: the app's after hooks run, the service's do not",
            actions: ["svc.error.m": rescuing], methodFails: true,
            order: wayIn + ["METHOD", "svc.error.m"] + wayOut.dropFirst(2), result: "rescued"),
        Case(
            testDescription: "the service's error hook of all methods sets null, which counts",
            actions: ["svc.error.all": rescuingWithNull], methodFails: true,
            order: wayIn + ["METHOD", "svc.error.m", "svc.error.all"] + wayOut.dropFirst(2), result: .null),
        Case(
            testDescription: "the app's error hook rescues", actions: ["app.error.m": rescuing], methodFails: true,
            order: wayIn + ["METHOD", "svc.error.m", "svc.error.all", "app.error.m"] + wayOut.suffix(2),
            result: "rescued"),
        Case(
            testDescription: "an error hook throws another error, which the outer ones hear",
            actions: ["svc.error.m": { _ in throw FeathersError(.conflict, "worse") }], methodFails: true,
            order: wayIn + ["METHOD", "svc.error.m", "svc.error.all", "app.error.m", "app.error.all"],
            failure: "worse"),
        Case(
            testDescription: "an error hook replaces the error",
            actions: ["svc.error.all": { $0.error = FeathersError(.conflict, "replaced") }], methodFails: true,
            order: wayIn + ["METHOD", "svc.error.m", "svc.error.all", "app.error.m", "app.error.all"],
            failure: "replaced"),
        Case(
            testDescription: "an error hook that only clears the error rescues nothing",
            actions: ["svc.error.m": { $0.error = nil }], methodFails: true,
            order: wayIn + ["METHOD", "svc.error.m", "svc.error.all", "app.error.m", "app.error.all"], failure: "method"
        ),
        Case(
            testDescription: "a before hook sets the result: only the method is skipped",
            actions: ["app.before.all": { $0.result = "stubbed" }], order: wayIn + wayOut, result: "stubbed"),
        Case(
            testDescription: "a before hook sets null as the result, which counts",
            actions: ["svc.before.m": rescuingWithNull], order: wayIn + wayOut, result: .null),
        Case(
            testDescription: "a before hook sets the error: the chain stops there",
            actions: ["svc.before.all": { $0.error = FeathersError(.forbidden, "set") }],
            order: wayIn.dropLast() + ["svc.error.all", "app.error.m", "app.error.all"], failure: "set"),
        Case(
            testDescription: "an after hook sets the error: it is not ignored",
            actions: ["svc.after.m": { $0.error = FeathersError(.forbidden, "set") }],
            order: wayIn + [
                "METHOD", "svc.after.all", "svc.after.m", "svc.error.m", "svc.error.all", "app.error.m",
                "app.error.all",
            ],
            failure: "set"),
    ]

    @Test("Hooks run in FeathersJS' order", arguments: cases)
    func order(_ testCase: Case) async throws {
        let trace = Trace()
        let app = FeathersApp()
        let failure = testCase.methodFails ? FeathersError(.notFound, "method") : nil
        let service = try await app.use(TracedService(trace: trace, failure: failure), at: "things")
        app.use(hooks: trace.hooks("app", testCase.actions))
        await service.use(hooks: trace.hooks("svc", testCase.actions))

        do {
            let result = try await service.get(1)
            #expect(testCase.failure == nil)
            #expect(result == testCase.result)
        } catch let error as FeathersError {
            #expect(error.message == testCase.failure)
        }
        #expect(trace.all == testCase.order)
    }

    @Test("An error thrown in a service's around hook is heard by the app's error hooks only")
    func aroundError() async throws {
        let trace = Trace()
        let app = FeathersApp()
        let service = try await app.use(TracedService(trace: trace), at: "things")
        app.use(hooks: Hooks(error: [trace.hook("app.error")]))
        await service.use(
            hooks: Hooks(
                around: [{ _, _ in throw FeathersError(.conflict, "around") }], error: [trace.hook("svc.error")]))
        await #expect(throws: FeathersError.self) { try await service.get(1) }
        #expect(trace.all == ["app.error"])
    }

    @Test("Hooks of one list run in the order of their registration, the first around hook outermost")
    func registrationOrder() async throws {
        let trace = Trace()
        let app = FeathersApp()
        let service = try await app.use(TracedService(trace: trace), at: "things")
        for number in 1...3 {
            await service.use(
                hooks: Hooks(
                    around: [trace.around("around\(number)")], before: [trace.hook("before\(number)")],
                    after: [trace.hook("after\(number)")]))
        }
        _ = try await service.get(1)
        #expect(
            trace.all == [
                "around1>", "around2>", "around3>", "before1", "before2", "before3", "METHOD", "after1", "after2",
                "after3",
                "<around3", "<around2", "<around1",
            ])
    }

    @Test("Hooks of a method do not run for another")
    func otherMethods() async throws {
        let trace = Trace()
        let app = FeathersApp()
        let service = try await app.use(TracedService(trace: trace), at: "things")
        await service.use(hooks: trace.hooks("svc"))
        try await service.create(["a": 1])
        #expect(trace.all == ["svc.around.all>", "svc.before.all", "METHOD", "svc.after.all", "<svc.around.all"])
    }
}
