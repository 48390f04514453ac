/// The HTTP client that suits the platform best.
public enum PlatformHTTPClient {
    /// A new client: ``CurlHTTPClient`` on Linux where the process holds libcurl 7.68 or later, else ``URLSessionHTTPClient``.
    public static func make() -> any HTTPClient {
        #if os(Linux)
            if let client = try? CurlHTTPClient() { return client }
        #endif
        return URLSessionHTTPClient()
    }
}
