import Feathers

/// Growth with the hooks of a service.
enum HookGrowth {
    static func group() -> GrowthGroup {
        var group = GrowthGroup("hooks")
        let hook: Hook = { _ in }
        let around: AroundHook = { context, next in try await next(&context) }
        let kinds = [
            ("before hooks", Hooks(before: [hook])), ("after hooks", Hooks(after: [hook])),
            ("around hooks", Hooks(around: [around])),
        ]
        for (name, hooks) in kinds {
            group.add(name, from: 1, unit: "hook in a call") { count in
                let service = try await service(count, hooks)
                return GrowthRun(units: 40_000) {
                    for _ in 0..<40_000 / count { _ = try await service.get(1) }
                }
            }
        }
        group.add("adding hooks", from: 10, unit: "hook") { count in
            GrowthRun(units: 4_000) {
                for _ in 0..<4_000 / count { _ = try await service(count, Hooks(before: [hook])) }
            }
        }
        return group
    }

    private static func service(_ count: Int, _ hooks: Hooks) async throws -> Service<JSONValue> {
        let service = try await FeathersApp().use(Growth.TrivialService(), at: "trivial")
        for _ in 0..<count { await service.use(hooks: hooks) }
        return service
    }
}
