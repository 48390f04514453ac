import Feathers

/// In-process calls: the cost of hooks and of the memory service.
enum CallBenchmarks {
    /// Returns immediately, so that only the call itself is measured.
    private actor TrivialService: ServiceProtocol {
        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue { ["id": id.json] }
    }

    static func hooks() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup("in-process get")
        let hook: Hook = { _ in }
        let around: AroundHook = { context, next in try await next(&context) }
        let bare: any ServiceProtocol = TrivialService()
        let bareName = "bare call through the existential"
        group.add(bareName, operations: 100_000) {
            for _ in 0..<100_000 { _ = try await bare.get(1, Params()) }
        }
        let sets: [(String, Hooks)] = [
            ("0 hooks", Hooks()),
            ("3 hooks (before, after, error)", Hooks(before: [hook], after: [hook], error: [hook])),
            (
                "10 hooks (4 before, 4 after, 2 error)",
                Hooks(
                    before: [.all: [hook, hook], .get: [hook, hook]],
                    after: [.all: [hook, hook], .get: [hook, hook]],
                    error: [.all: [hook], .get: [hook]])
            ),
            ("1 around hook", Hooks(around: [around])),
            ("3 around hooks", Hooks(around: [around, around, around])),
            ("10 around hooks", Hooks(around: [.all: Array(repeating: around, count: 10)])),
        ]
        for (name, hooks) in sets {
            let service = try await FeathersApp().use(TrivialService(), at: "trivial")
            await service.use(hooks: hooks)
            group.add(name, operations: 100_000, comparedWith: bareName) {
                for _ in 0..<100_000 { _ = try await service.get(1) }
            }
        }
        return group
    }

    static func memory() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup("memory service")
        for count in [100, 100_000] {
            let service = try await FeathersApp().use(
                MemoryService(multi: .all, pagination: Pagination(default: 10, max: 50)), at: "messages")
            try await service.create(
                contentsOf: (0..<count).map { ["text": .string("message \($0)"), "n": .integer(Int64($0))] })
            group.add("get among \(count)", operations: 50_000, comparedWith: count == 100 ? nil : "get among 100") {
                for number in 0..<50_000 { _ = try await service.get(number * 7 % count) }
            }
        }
        let service = try await FeathersApp().use(
            MemoryService(multi: .all, pagination: Pagination(default: 10, max: 50)), at: "messages")
        try await service.create(
            contentsOf: (0..<1000).map { ["text": .string("message \($0)"), "n": .integer(Int64($0))] })
        let query = Query.where("n", .greaterThan(500)).sorted(by: "text", .descending).limit(10)
        group.add("find 10 of 1000, sorted", operations: 100) {
            for _ in 0..<100 { _ = try await service.find(query) }
        }
        let growing = try await FeathersApp().use(MemoryService(), at: "messages")
        group.add("create", operations: 20_000) {
            for _ in 0..<20_000 { try await growing.create(["text": "Hello", "n": 1]) }
        }
        return group
    }
}
