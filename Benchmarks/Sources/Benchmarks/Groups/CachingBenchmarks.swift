import Feathers
import Foundation

/// What a cache hit saves compared with a REST call, and what a cache miss costs.
enum CachingBenchmarks {
    static func groups() async throws -> [BenchmarkGroup] {
        [try await hits(), try await misses()]
    }

    /// The directory of the disk caches.
    static let directory = FileManager.default.temporaryDirectory.appending(
        path: "feathers-benchmark-cache", directoryHint: .isDirectory)

    private static func hits() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup("cached REST get")
        let server = try ServerProcess(.http)
        let base = try server.url
        let plain = FeathersApp(transport: .rest(base)).service("messages")
        group.add("REST", operations: 500) {
            for _ in 0..<500 { _ = try await plain.get(1) }
            withExtendedLifetime(server) {}
        }
        try? FileManager.default.removeItem(at: directory)
        let storages: [(String, any CacheStorage)] = [
            ("memory", MemoryCacheStorage()), ("disk", DiskCacheStorage(directory: directory)),
            ("layered", LayeredCacheStorage(MemoryCacheStorage(), DiskCacheStorage(directory: directory))),
        ]
        for (name, storage) in storages {
            let app = FeathersApp(transport: .rest(base))
            app.use(cache: ServiceCache(storage, policy: .cacheFirstNetworkIfNotFoundOrExpired))
            let service = app.service("messages")
            _ = try await service.get(1)
            group.add("hit, \(name)", operations: 5_000, comparedWith: "REST") {
                for _ in 0..<5_000 { _ = try await service.get(1) }
                withExtendedLifetime(server) {}
            }
        }
        return group
    }

    /// Returns immediately, so that only the cache is measured.
    private actor TrivialService: ServiceProtocol {
        func get(_ id: ServiceID, _ params: Params) async throws -> JSONValue { ["id": id.json, "text": "Hello"] }
    }

    private static func misses() async throws -> BenchmarkGroup {
        var group = BenchmarkGroup("in-process get, cached")
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "feathers-benchmark-misses", directoryHint: .isDirectory)
        try? FileManager.default.removeItem(at: directory)
        let caches: [(String, Int, ServiceCache?)] = [
            ("no cache", 20_000, nil),
            ("miss, not stored", 20_000, ServiceCache(policy: .networkOnlyNoCache)),
            ("miss, stored in memory", 20_000, ServiceCache(policy: .networkOnlyUpdateCache)),
            (
                "miss, stored on disk", 500,
                ServiceCache(DiskCacheStorage(directory: directory), policy: .networkOnlyUpdateCache)
            ),
        ]
        for (name, operations, cache) in caches {
            let service = try await service(with: cache)
            group.add(name, operations: operations, comparedWith: cache == nil ? nil : "no cache") {
                for number in 0..<operations { _ = try await service.get(number % 100) }
            }
        }
        return group
    }

    /// A service that returns immediately, behind a cache.
    static func service(with cache: ServiceCache?) async throws -> Service<JSONValue> {
        let app = FeathersApp()
        if let cache { app.use(cache: cache) }
        return try await app.use(TrivialService(), at: "trivial")
    }
}
