import Feathers

/// The cost of diagnostics: with and without sinks that receive the events.
enum DiagnosticBenchmarks {
    private actor TrivialService: ServiceProtocol {
        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue { ["id": id.json] }
    }

    static func group() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup("get with diagnostics")
        let around: AroundHook = { context, next in try await next(&context) }
        let sets: [(String, @Sendable (FeathersApp) -> Void)] = [
            ("none", { _ in }),
            ("off (a sink for no events)", { $0.use(diagnostics: .text { _ in }, levels: DiagnosticLevels(nil)) }),
            ("1 around hook, for comparison", { $0.use(hooks: Hooks(around: [around])) }),
            (
                "filtered out (a sink for errors)",
                { $0.use(diagnostics: .text { _ in }, levels: DiagnosticLevels(.error)) }
            ),
            ("on, events to a closure", { $0.use(diagnostics: .closure { _ in }) }),
            ("on, lines of text", { $0.use(diagnostics: .text { _ in }) }),
        ]
        for (name, configure) in sets {
            let app = FeathersApp()
            configure(app)
            let service = try await app.use(TrivialService(), at: "trivial")
            group.add(name, operations: 50_000, comparedWith: name == "none" ? nil : "none") {
                for _ in 0..<50_000 { _ = try await service.get(1) }
            }
        }
        return group
    }
}
