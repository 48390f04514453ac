#if os(Linux)
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersNetworking

    @Suite("WebSockets through an HTTP proxy", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
    struct WebSocketProxyTests {
        /// The proxy's address with credentials, if any, percent-encoded as they stand in a URL.
        private func address(of proxy: FaultProxy, _ credentials: String = "") -> String {
            proxy.url.absoluteString.replacing("://", with: "://" + credentials)
        }

        private func connector(_ proxy: String, exceptions: [String] = [], trusting certificate: URL? = nil)
            -> CurlWebSocketConnector
        {
            let tls = TLSConfiguration(trust: certificate.map { .certificates(in: $0) } ?? .system)
            return CurlWebSocketConnector(tls: tls, proxy: .url(proxy, exceptions: exceptions))
        }

        private func expectEcho(_ url: URL, by connector: CurlWebSocketConnector) async throws {
            let socket = OpenedWebSocket(try await connector.connect(WebSocketRequest(url: url)))
            for text in ["through", String(repeating: "z", count: 200_000)] {
                try socket.connection.sendNow(.text(text))
                #expect(try await socket.text() == text)
            }
            socket.connection.close(code: 1000, reason: "")
            #expect(try await socket.closure().code == 1000)
        }

        @Test("carry messages, with TLS inside and without", arguments: [true, false])
        func tunnel(isSecure: Bool) async throws {
            let proxy = try await FaultProxy.tunnel()
            let server = try await TestBackend.webSocketServer()
            let connector = connector(address(of: proxy), trusting: server.certificate)
            try await expectEcho(isSecure ? server.secureURL("echo") : server.url("echo"), by: connector)
            let counters = try await proxy.counters(open: 0)
            #expect(counters.connections == 1 && counters.toServer > 200_000 && counters.toClient > 200_000)
        }

        @Test("say who they are where the proxy asks for it")
        func credentials() async throws {
            let proxy = try await FaultProxy.tunnel(credentials: "ada:p@ss:word")
            try await expectEcho(
                try await TestBackend.webSocketServer().url("echo"),
                by: connector(address(of: proxy, "ada:p%40ss%3Aword@")))
            #expect(try await proxy.counters().toServer > 200_000)
        }

        @Test(
            "are refused without the right credentials, which no error tells",
            arguments: ["", "ada:wrongsecret@", "eve:secret@"])
        func unauthorized(credentials: String) async throws {
            let proxy = try await FaultProxy.tunnel(credentials: "ada:secret")
            let url = try await TestBackend.webSocketServer().url("echo")
            let connector = connector(address(of: proxy, credentials))
            let error = try #require(await errorOfConnecting(to: url, by: connector) as? WebSocketError)
            #expect(error.kind == .cannotConnect)
            #expect(error.message.contains("proxy") && error.message.contains("407"))
            #expect(!"\(error)".contains("secret") && !error.message.contains("secret"))
            #expect(try await proxy.counters().toServer == 0)
        }

        @Test("go past the proxy to its exceptions")
        func exceptions() async throws {
            let proxy = try await FaultProxy.tunnel()
            let url = try await TestBackend.webSocketServer().url("echo")
            try await expectEcho(url, by: connector(address(of: proxy), exceptions: ["127.0.0.1"]))
            #expect(try await proxy.counters().connections == 0)
        }

        @Test("fail where there is no such proxy, without telling its credentials")
        func noProxy() async throws {
            let proxy = try await FaultProxy.tunnel()
            try await proxy.refuse()
            let url = try await TestBackend.webSocketServer().url("echo")
            let connector = connector(address(of: proxy, "ada:secret@"))
            let error = try #require(await errorOfConnecting(to: url, by: connector) as? WebSocketError)
            #expect(error.kind == .cannotConnect && !"\(error)".contains("secret") && !error.message.contains("secret"))
        }
    }
#endif
