import Feathers

/// Growth with the services of an app.
enum ServiceGrowth {
    static func group() -> GrowthGroup {
        var group = GrowthGroup("services")
        group.add("registering", from: 20, unit: "service") { count in
            GrowthRun(units: 4_000) {
                for _ in 0..<4_000 / count { _ = try await app(of: count) }
            }
        }
        group.add("looking one up and calling it", from: 20, unit: "call") { count in
            let app = try await app(of: count)
            return GrowthRun(units: 20_000) {
                for number in 0..<20_000 { _ = try await app.service("services/\(number % count)").get(1) }
            }
        }
        group.add("setting up and tearing down", from: 20, unit: "service") { count in
            let app = try await app(of: count)
            return GrowthRun(units: 4_000) {
                for _ in 0..<4_000 / count { try await withFeathersApp(app) { _ in } }
            }
        }
        group.add("removing", from: 20, unit: "service") { count in
            GrowthRun(units: 4_000) {
                for _ in 0..<4_000 / count {
                    let app = try await app(of: count)
                    for number in 0..<count { try await app.unuse("services/\(number)") }
                }
            }
        }
        group.add("mounting a sub-app", from: 20, unit: "service") { count in
            GrowthRun(units: 4_000) {
                for _ in 0..<4_000 / count { try await FeathersApp().use(app(of: count), at: "v1") }
            }
        }
        return group
    }

    private static func app(of count: Int) async throws -> FeathersApp {
        let app = FeathersApp()
        for number in 0..<count { try await app.use(Growth.TrivialService(), at: "services/\(number)") }
        return app
    }
}
