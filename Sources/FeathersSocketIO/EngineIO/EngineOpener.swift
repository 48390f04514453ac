import FeathersCore
import FeathersNetworking
import FeathersSupport
import Foundation

/// Opens sessions, trying the transports in order until one succeeds.
struct EngineOpener: Sendable {
    let address: EngineAddress
    let transports: [SocketIOTransport.EngineTransport]
    let connector: (any WebSocketConnector)?
    /// Creates the client for polling. Each session gets its own, because a shared one would reuse the dead connections
    /// of a lost session.
    let makeClient: @Sendable () -> any HTTPClient
    let limit: Int
    /// Whether polling sessions send the cookies of their responses back.
    let keepsCookies: Bool
    let timebase: RelativeClock

    /// Opens a session. `timeout` covers all attempts. Each transport gets an equal share, so one that hangs leaves
    /// time for the next.
    /// - Throws: ``EngineOpeningError``, which says why each transport failed, or `CancellationError`.
    func open(headers: HTTPHeaders, timeout: Duration) async throws -> any EngineConnection {
        guard !transports.isEmpty else { throw EngineOpeningError("No transports are enabled") }
        let part = timeout / transports.count
        var failures: [EngineOpeningError] = []
        for transport in transports {
            do {
                return try await open(transport, headers, part)
            } catch {
                try Task.checkCancellation()
                let failure = error as? EngineOpeningError ?? EngineOpeningError("\(error)")
                let name = transport == .webSocket ? "WebSocket" : "polling"
                failures.append(EngineOpeningError("\(name): \(failure.description)", isTimeout: failure.isTimeout))
            }
        }
        throw EngineOpeningError(
            failures.map(\.description).joined(separator: "; "), isTimeout: failures.allSatisfy(\.isTimeout))
    }

    private func open(
        _ transport: SocketIOTransport.EngineTransport, _ headers: HTTPHeaders, _ timeout: Duration
    ) async throws -> any EngineConnection {
        let place = address.place
        let late = EngineOpeningError("\(place) did not respond within \(timeout)", isTimeout: true)
        switch transport {
        case .webSocket:
            return try await timebase.run(atMost: timeout, orThrow: late) {
                let connection = try await webSocket(headers, timeout)
                do {
                    try await connection.open()
                } catch {
                    connection.close()
                    throw error
                }
                return connection
            }
        case .polling:
            let requests = PollingRequests(
                address: address, headers: headers, client: makeClient(), limit: limit,
                cookies: keepsCookies ? SessionCookies() : nil)
            return try await timebase.run(atMost: timeout, orThrow: late) {
                try await PollingConnection.open(requests, timebase: timebase)
            }
        }
    }

    private func webSocket(_ headers: HTTPHeaders, _ timeout: Duration) async throws -> WebSocketEngineConnection {
        guard let connector else { throw EngineOpeningError("there is no WebSocket implementation on this platform") }
        let request = WebSocketRequest(
            url: try address.url(transport: "websocket"), headers: headers, timeout: timeout, maximumMessageSize: limit)
        do {
            return WebSocketEngineConnection.start(try await connector.connect(request))
        } catch let error as WebSocketError {
            throw EngineOpeningError(error.message, isTimeout: error.kind == .timeout)
        }
    }
}

/// The address of an Engine.IO server: the origin of a URL, a path ending with a slash, and the query of both
/// protocols.
struct EngineAddress: Sendable {
    private let origin: String
    private let path: String
    private let query: String

    /// - Throws: ``FeathersError/Code/badRequest`` if the URL has no host, or a scheme other than http, https, ws, and
    ///   wss.
    init(_ url: URL, path: String) throws(FeathersError) {
        let url = url.absoluteURL
        guard let scheme = url.scheme?.lowercased(), ["http", "https", "ws", "wss"].contains(scheme),
            let host = url.host(percentEncoded: true),
            !host.isEmpty
        else {
            throw FeathersError.refused(
                """
                The URL of a Socket.IO server must be an http, https, ws, or wss URL with a host, such as \
                'http://localhost:3030', not '\(url.withoutCredentials)'
                """)
        }
        let bracketed = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let isSecure = scheme == "https" || scheme == "wss"
        origin = (isSecure ? "https" : "http") + "://" + bracketed + (url.port.map { ":\($0)" } ?? "")
        let pieces = path.split(separator: "/").map { percentEncoded(component: String($0)) }
        self.path = "/" + pieces.map { $0 + "/" }.joined()
        query = url.query(percentEncoded: true).map { $0 + "&" } ?? ""
    }

    var place: String { String(origin.drop { $0 != "/" }.dropFirst(2)) }

    func url(transport: String, sid: String? = nil) throws(FeathersError) -> URL {
        let session = sid.map { "&sid=" + percentEncoded(component: $0) } ?? ""
        let text = "\(origin)\(path)?\(query)EIO=4&transport=\(transport)\(session)"
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw FeathersError(
                .badRequest, "The path or query of the Socket.IO server does not form a valid URL",
                execution: .neverSent)
        }
        return url
    }
}

/// The reason why a session could not be opened, as a sentence.
struct EngineOpeningError: Error, Sendable, CustomStringConvertible {
    let description: String
    let isTimeout: Bool

    init(_ description: String, isTimeout: Bool = false) {
        self.description = description
        self.isTimeout = isTimeout
    }

    init(_ closure: EngineClosure) {
        let description =
            switch closure.reason {
            case .closed: "The connection was closed while it was being opened"
            case .lost: "The server closed the connection before the session was open"
            case .failed(let message), .invalid(let message): message
            }
        self.init(description)
    }
}
