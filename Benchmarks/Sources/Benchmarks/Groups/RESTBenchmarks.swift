import Feathers
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `get` over REST with URLSession and with the platform's default client, compared with the same requests on a bare
/// URLSession.
enum RESTBenchmarks {
    static func group() throws -> BenchmarkGroup {
        var group = BenchmarkGroup("REST get")
        let server = try ServerProcess(.http)
        let base = try server.url
        let url = base.appending(path: "messages/1")
        let session = URLSession(configuration: .ephemeral)
        let clients: [(String, any HTTPClient)] = [
            ("URLSession", URLSessionHTTPClient()), ("default client", PlatformHTTPClient.make()),
        ]
        let services = clients.map { name, client in
            (name, FeathersApp(transport: .rest(base, httpClient: client)).service("messages"))
        }
        group.add("bare URLSession, one at a time", operations: 500) {
            for _ in 0..<500 { try await fetch(url, session) }
            withExtendedLifetime(server) {}
        }
        for (name, service) in services {
            group.add("\(name), one at a time", operations: 500, comparedWith: "bare URLSession, one at a time") {
                for _ in 0..<500 { _ = try await service.get(1) }
            }
        }
        for lanes in [32, 64] {
            group.add("bare URLSession, \(lanes) at once", operations: lanes * 16) {
                try await concurrently(lanes, each: 16) { try await fetch(url, session) }
            }
            for (name, service) in services {
                group.add(
                    "\(name), \(lanes) at once", operations: lanes * 16,
                    comparedWith: "bare URLSession, \(lanes) at once"
                ) {
                    try await concurrently(lanes, each: 16) { _ = try await service.get(1) }
                }
            }
        }
        return group
    }

    /// The minimum for the same value: the request that the transport sends, with the body parsed by Foundation.
    private static func fetch(_ url: URL, _ session: URLSession) async throws {
        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        let (data, response) = try await session.data(for: request)
        guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
        _ = try JSONSerialization.jsonObject(with: data)
    }
}
