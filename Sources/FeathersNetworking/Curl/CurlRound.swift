#if canImport(FoundationNetworking)
    import FeathersSupport

    /// The requests of one client up to its next ``CurlHTTPClient/cancelAll()``. Clients share a driver, and each ends
    /// only its own requests.
    final class CurlRound: Sendable {
        typealias End = @Sendable (_ host: String?, _ delivery: HTTPClientError.Delivery?) -> HTTPClientError

        /// The errors of ended requests; nil while requests may start. The driver sets it while it holds its lock.
        let end = Locked<End?>(nil)
    }

    /// The clients that use a driver. The last of them closes it.
    final class CurlDriverUse: Sendable {
        let driver: CurlDriver

        init(_ settings: CurlSettings) { driver = CurlDriver(settings) }

        deinit { driver.close() }

        /// The driver of all clients with the default settings, while there are any.
        static func shared() -> CurlDriverUse {
            current.withLock { current in
                if let use = current.use, !use.driver.isClosed { return use }
                let use = CurlDriverUse(CurlSettings())
                current.use = use
                return use
            }
        }

        private struct Current: Sendable {
            weak var use: CurlDriverUse?
        }

        private static let current = Locked(Current())
    }
#endif
