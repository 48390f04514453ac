#if os(Linux)
    import TestBackend

    @testable import FeathersNetworking

    /// The connector of Linux, whatever proxy the environment names; URLSession's where that was asked for.
    enum TestedConnector {
        static func make(tls: TLSConfiguration = TLSConfiguration(), closingTimeout: Duration = .seconds(5))
            -> any WebSocketConnector
        {
            if Environment.choosesURLSessionWebSockets { return URLSessionWebSocketConnector() }
            var connector = CurlWebSocketConnector(tls: tls, proxy: .none)
            connector.closingTimeout = closingTimeout
            return connector
        }
    }

    extension OpenedWebSocket {
        init(
            _ path: String, timeout: Duration = .seconds(20), maximumMessageSize: Int = 64 << 20,
            closingTimeout: Duration = .seconds(5)
        )
            async throws
        {
            let url = try await TestBackend.webSocketServer().url(path)
            let connector = TestedConnector.make(closingTimeout: closingTimeout)
            self.init(
                try await connector.connect(
                    WebSocketRequest(url: url, timeout: timeout, maximumMessageSize: maximumMessageSize)))
        }
    }
#endif
