import FeathersNetworking
import Synchronization

/// The platform's HTTP client, made when it is first needed: most connections never poll.
final class PollingClient: HTTPClient {
    private let client = Mutex<(any HTTPClient)?>(nil)

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let client = client.withLock { client in
            let made = client ?? PlatformHTTPClient.make()
            client = made
            return made
        }
        return try await client.execute(request)
    }
}
