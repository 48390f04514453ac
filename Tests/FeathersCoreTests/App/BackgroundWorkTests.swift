import FeathersCore
import FeathersSupport
import FeathersTesting
import Testing

@Suite("Background work", .timeLimit(.minutes(10)))
struct BackgroundWorkTests {
    /// Work that tells when it begins, and when it has been cancelled.
    private func work(_ name: String, _ trace: Trace, _ begun: Promise<Void>) -> @Sendable (FeathersApp) async -> Void {
        { _ in
            trace.add("\(name)>")
            begun.resolve(())
            try? await Promise<Void>().value()
            trace.add("<\(name)")
        }
    }

    @Test("It runs beside the body, and has ended before the app is torn down")
    func life() async throws {
        let (trace, begun) = (Trace(), Promise<Void>())
        let app = FeathersApp()
        app.use(
            setUp: [
                { _, next in
                    try await next(); trace.add("set up")
                }
            ],
            tearDown: [
                { _, next in
                    trace.add("tear down"); try await next()
                }
            ])
        app.use(backgroundWork: work("work", trace, begun))
        #expect(trace.all.isEmpty)
        try await withFeathersApp(app) { _ in try await begun.value() }
        #expect(trace.all == ["set up", "work>", "<work", "tear down"])
    }

    @Test("Added to an app that lives, it starts at once, and with every life after that")
    func late() async throws {
        let (trace, begun) = (Trace(), Promise<Void>())
        let app = FeathersApp()
        try await withFeathersApp(app) { app in
            app.use(backgroundWork: work("late", trace, begun))
            try await begun.value()
        }
        try await withFeathersApp(app) { _ in }
        #expect(trace.all == ["late>", "<late", "late>", "<late"])
    }

    @Test("It ends with a body that throws, and with a run that is cancelled; connecting alone starts none")
    func ends() async throws {
        let (trace, begun) = (Trace(), Promise<Void>())
        let app = FeathersApp()
        app.use(backgroundWork: work("work", trace, begun))
        try await app.connect()
        #expect(trace.all.isEmpty)
        await #expect(throws: FeathersError.self) {
            try await withFeathersApp(app) { _ in
                try await begun.value()
                throw FeathersError(.conflict, "body")
            }
        }
        #expect(trace.all == ["work>", "<work"])
        let running = Task { try await app.run() }
        running.cancel()
        _ = await running.result
        #expect(trace.all == ["work>", "<work", "work>", "<work"])
    }
}
