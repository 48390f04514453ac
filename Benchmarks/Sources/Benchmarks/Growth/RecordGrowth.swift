import Feathers

/// Growth with the records of a memory service.
enum RecordGrowth {
    private static let sorting = "sorting takes n log n comparisons"
    private static let caches =
        "the number of instructions is constant, but many records outgrow the processor's caches"

    static func group() -> GrowthGroup {
        var group = GrowthGroup("records")
        group.add("get", from: 1_000, unit: "call", note: caches) { count in
            let service = try await service(count)
            return GrowthRun(units: 20_000) {
                for number in 0..<20_000 { _ = try await service.get(number * 7919 % count) }
            }
        }
        group.add("find the first 10", from: 1_000, unit: "call") { count in
            let service = try await service(count)
            return GrowthRun(units: 2_000) {
                for _ in 0..<2_000 { _ = try await service.find(.limit(10)) }
            }
        }
        group.add("find by a condition", from: 1_000, unit: "record") { count in
            let service = try await service(count, pagination: Pagination(default: 10))
            return GrowthRun(units: 100_000) {
                for _ in 0..<100_000 / count { _ = try await service.find(.where("n", .lessThan(500))) }
            }
        }
        group.add("find, sorted", from: 1_000, unit: "record", note: sorting) { count in
            let service = try await service(count, pagination: Pagination(default: 10))
            return GrowthRun(units: 100_000) {
                for _ in 0..<100_000 / count { _ = try await service.find(.sorted(by: "text")) }
            }
        }
        group.add("create", from: 100, unit: "record") { count in
            GrowthRun(units: 10_000) {
                for _ in 0..<10_000 / count {
                    let service = try await service(0)
                    for _ in 0..<count { try await service.create(["text": "Hello", "n": 1]) }
                }
            }
        }
        group.add("patch all", from: 1_000, unit: "record", note: caches) { count in
            let service = try await service(count)
            return GrowthRun(units: 100_000) {
                for number in 0..<100_000 / count {
                    try await service.patchAll(query: Query(), with: ["n": .integer(Int64(number))])
                }
            }
        }
        group.add("remove, one by one", from: 100, unit: "record") { count in
            GrowthRun(units: 10_000) {
                for _ in 0..<10_000 / count {
                    let service = try await service(count)
                    for number in 0..<count { try await service.remove(number) }
                }
            }
        }
        return group
    }

    private static func service(_ count: Int, pagination: Pagination? = nil) async throws -> Service<JSONValue> {
        try await FeathersApp().use(
            MemoryService(multi: .all, pagination: pagination, records: Growth.records(count)), at: "messages")
    }
}
