import FeathersCaching
import FeathersCore
import FeathersREST
import Foundation
import Testing

@Suite("A cache policy of an endpoint")
struct EndpointPolicyTests {
    @Test("is refused before anything is sent", arguments: CachePolicy.allCases.filter { $0 != .networkOnlyNoCache })
    func refused(policy: CachePolicy) async throws {
        let app = FeathersApp(transport: .rest(try #require(URL(string: "http://127.0.0.1:9"))))
        app.use(cache: ServiceCache(policy: .cacheFirstNetworkIfNotFoundOrExpired))
        let error = try await #require(throws: FeathersError.self) {
            try await app.request(Endpoint<String>(.get, "reports"), params: .caching(policy))
        }
        #expect(error.code == .badRequest && error.execution == .neverSent)
        #expect(error.message.contains("'\(policy.rawValue)'") && error.message.contains("'reports'"))
    }
}
