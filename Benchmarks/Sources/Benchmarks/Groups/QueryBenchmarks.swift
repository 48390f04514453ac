import Feathers

/// The cost of building a query and of writing it as a query string.
enum QueryBenchmarks {
    static func group() -> BenchmarkGroup {
        var group = BenchmarkGroup("query")
        let query = Query.where("room", "general").where("age", .greaterThan(18)).where(
            "tags", .isIn(["swift", "feathers", "ü"])
        )
        .sorted(by: "createdAt", .descending).limit(10).skip(20).selecting("id", "text")
        group.add("to string", operations: 10_000) {
            for _ in 0..<10_000 { _ = try query.queryString() }
        }
        group.add("build", operations: 10_000) {
            for _ in 0..<10_000 {
                _ = Query.where("room", "general").where("age", .greaterThan(18)).sorted(by: "createdAt").limit(10)
            }
        }
        return group
    }
}
