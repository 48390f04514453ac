#if os(Linux)
    import FeathersCore
    import FeathersNetworking
    import Foundation
    import TestBackend
    import Testing

    @testable import FeathersSocketIO

    @Suite("Socket.IO over TLS", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
    struct BackendTLSTests {
        /// A server of one's own hears of nobody else's events.
        private let backend = TestBackend(variables: [:])

        /// Connects to the backend over TLS, runs the body, and disconnects.
        private func connected(
            _ way: Way, host: String = "localhost", trust: TLSConfiguration.Trust,
            _ body: @Sendable (BackendConnection) async throws -> Void
        ) async throws {
            let proxy = try await FaultProxy(to: try await backend.url(), isSecure: true)
            var address = try #require(URLComponents(url: proxy.url, resolvingAgainstBaseURL: false))
            (address.scheme, address.host) = (way == .webSocket ? "wss" : "https", host)
            let tls = TLSConfiguration(trust: trust)
            let client = try CurlHTTPClient(tls: tls, proxy: .none)
            let url = try #require(address.url)
            try await BackendConnection.with(way, at: url) {
                $0.webSocketConnector = CurlWebSocketConnector(tls: tls, proxy: .none)
                $0.httpClient = client
            } _: { connection in
                try await body(connection)
            }
        }

        private func refusal(_ way: Way, host: String = "localhost", trust: TLSConfiguration.Trust) async throws
            -> FeathersError
        {
            try await #require(throws: FeathersError.self) {
                try await connected(way, host: host, trust: trust) { _ in }
            }
        }

        private func ownAuthority() async throws -> TLSConfiguration.Trust {
            .certificates(in: try await TestBackend.secureScriptServer().certificate)
        }

        @Test("carries calls and events, with an authority of one's own", arguments: Way.allCases)
        func exchange(way: Way) async throws {
            try await connected(way, trust: ownAuthority()) { connection in
                // Compressed, 50 responses of one character would be a bomb.
                var number: UInt32 = 1
                let text = String(
                    (0..<50_000).map { _ in
                        number = number &* 1_664_525 &+ 1_013_904_223
                        return Character(Unicode.Scalar(UInt8(0xE0 + number >> 27)))
                    })
                let created = try await connection.call("todos", .create, data: ["text": .string(text)])
                #expect(created["text"]?.string == text)
                #expect(try await connection.deliveries.next() == .event("todos", .created, created))
                let id = try #require(created["id"].flatMap { ServiceID($0) })
                #expect(try await connection.call("todos", .get, id: id) == created)
                async let answers = withThrowingTaskGroup(of: JSONValue.self) { group in
                    for _ in 0..<50 { group.addTask { try await connection.call("todos", .get, id: id) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(try await answers.count == 50)
            }
        }

        @Test("refuses a certificate nobody vouches for, and says so", arguments: Way.allCases)
        func selfSigned(way: Way) async throws {
            let error = try await refusal(way, trust: .system)
            #expect(error.code == .unavailable && error.execution == .neverSent)
            #expect(
                error.message.contains("certificate") && error.message.contains("self")
                    && error.message.contains("localhost"))
        }

        @Test("refuses a certificate for another host, and says so", arguments: Way.allCases)
        func wrongHost(way: Way) async throws {
            let error = try await refusal(way, host: "127.0.0.1", trust: ownAuthority())
            #expect(error.code == .unavailable && error.execution == .neverSent)
            #expect(error.message.contains("certificate") && error.message.contains("127.0.0.1"))
        }
    }
#endif
