import Feathers
import FeathersSupport
import TestBackend
import Testing

/// What becomes of calls, over every transport, when their app shuts down.
@Suite("Conformance: shutting down", .inTurn, .timeLimit(.minutes(10)))
struct ShutdownConformanceTests {
    @Test("A call under way is answered, and none begins after it", arguments: Subject.all)
    func answered(_ subject: Subject) async throws {
        let app = try await subject.app()
        let begun = begun(in: app)
        let slow = app.service("slow")
        async let answer = slow.get(300)
        try await begun.value()
        #expect(await app.shutDown(within: .seconds(60)) == 0)
        #expect(try await answer["id"] != nil)
        await #expect {
            try await slow.get(1)
        } throws: { error in
            (error as? FeathersError)?.code == .unavailable && (error as? FeathersError)?.execution == .neverSent
        }
    }

    @Test(
        "A call that takes longer than there is time fails at its end", arguments: Subject.all.filter(\.keepsTimeouts))
    func tooLong(_ subject: Subject) async throws {
        let app = try await subject.app()
        let begun = begun(in: app)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect {
                    try await app.service("slow").get(60_000, params: Params(timeout: .seconds(120)))
                } throws: { error in
                    (error as? FeathersError)?.code == .unavailable && (error as? FeathersError)?.execution != .answered
                }
            }
            try await begun.value()
            #expect(await app.shutDown(within: .milliseconds(200)) == 1)
            try await group.waitForAll()
        }
    }

    /// A promise that is resolved once a call of the app is under way: hooks run inside it.
    private func begun(in app: FeathersApp) -> Promise<Void> {
        let begun = Promise<Void>()
        app.use(hooks: Hooks(before: [{ _ in begun.resolve(()) }]))
        return begun
    }
}
