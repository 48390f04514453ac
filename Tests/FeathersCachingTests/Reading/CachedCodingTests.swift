import FeathersCaching
import FeathersCore
import FeathersTesting
import Testing

@Suite("Cached results of services with a model", .timeLimit(.minutes(10)))
struct CachedCodingTests {
    struct Item: Codable, Sendable, Equatable {
        var itemName: String
    }

    @Test("are unwrapped and read as the call says, from the network and from the cache")
    func coding() async throws {
        let cached = CachedApp(policy: .cacheFirstNetworkIfNotFoundOrExpired)
        cached.server.set(["data": [["item_name": "a"]]])
        let items = cached.app.service("items", of: Item.self, rootKeys: ["data"])
        var params = Params()
        params.coding = CodingOptions(keys: .snakeCase)
        for _ in 1...2 {
            var values: [[Item]] = []
            for try await result in items.cached.find(params: params) { values.append(result.value.data) }
            #expect(values == [[Item(itemName: "a")]])
        }
        cached.server.set(["data": ["item_name": "b"]])
        for try await result in items.cached.get(1, params: params) { #expect(result.value == Item(itemName: "b")) }
        #expect(cached.transport.requests.count == 2)
    }
}
