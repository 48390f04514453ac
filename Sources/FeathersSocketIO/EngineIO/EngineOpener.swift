import FeathersCore
import FeathersNetworking
import FeathersSupport

/// Opens sessions: tries the transports in their order until one opens.
struct EngineOpener: Sendable {
    let address: EngineAddress
    let transports: [SocketIOTransport.EngineTransport]
    let connector: (any WebSocketConnector)?
    /// What polls. A session should have its own: one that kept connections of a lost session would ask over those that are dead.
    let makeClient: @Sendable () -> any HTTPClient
    /// How many bytes a message may have.
    let limit: Int
    let timebase: RelativeClock

    /// How long a server gives a probe (`upgradeTimeout`).
    private static let probeTimeout = Duration.seconds(10)

    /// Opens a session.
    /// - Parameter timeout: how long all of it may take; each transport has an equal part, so that one that hangs leaves time for the next.
    /// - Throws: ``EngineOpeningError`` that says why each transport failed; `CancellationError`.
    func open(headers: HTTPHeaders, timeout: Duration) async throws -> any EngineConnection {
        guard !transports.isEmpty else { throw EngineOpeningError("No transport is allowed") }
        let part = timeout / transports.count
        var failures: [EngineOpeningError] = []
        for transport in transports {
            do {
                return try await open(transport, headers, part, webSocketFailed: !failures.isEmpty)
            } catch {
                try Task.checkCancellation()
                let failure = error as? EngineOpeningError ?? EngineOpeningError("\(error)")
                failures.append(EngineOpeningError("\(transport.name): \(failure.description)", isTimeout: failure.isTimeout))
            }
        }
        throw EngineOpeningError(failures.map(\.description).joined(separator: "; "), isTimeout: failures.allSatisfy(\.isTimeout))
    }

    private func open(
        _ transport: SocketIOTransport.EngineTransport, _ headers: HTTPHeaders, _ timeout: Duration, webSocketFailed: Bool
    ) async throws -> any EngineConnection {
        let place = address.place
        let late = EngineOpeningError("\(place) did not answer within \(timeout)", isTimeout: true)
        switch transport {
        case .webSocket:
            return try await timebase.run(atMost: timeout, orThrow: late) {
                let connection = try await webSocket(sid: nil, headers, timeout)
                do {
                    try await connection.open()
                } catch {
                    connection.close()
                    throw error
                }
                return connection
            }
        case .polling:
            let requests = PollingRequests(address: address, headers: headers, client: makeClient(), limit: limit)
            let polling = try await timebase.run(atMost: timeout, orThrow: late) { try await PollingConnection.open(requests) }
            guard !webSocketFailed, transports.contains(.webSocket), polling.handshake.upgrades.contains("websocket") else {
                return polling
            }
            let sid = polling.handshake.sid
            return UpgradingConnection(polling) {
                try await timebase.sleep(for: Self.probeTimeout)
            } openWebSocket: {
                try await webSocket(sid: sid, headers, timeout)
            }
        }
    }

    private func webSocket(sid: String?, _ headers: HTTPHeaders, _ timeout: Duration) async throws -> WebSocketEngineConnection {
        guard let connector else { throw EngineOpeningError("there is no WebSocket implementation here") }
        let request = WebSocketRequest(
            url: try address.url(transport: "websocket", sid: sid), headers: headers, timeout: timeout, maximumMessageSize: limit)
        do {
            return WebSocketEngineConnection.start(try await connector.connect(request))
        } catch let error as WebSocketError {
            throw EngineOpeningError(error.message, isTimeout: error.kind == .timeout)
        }
    }
}
