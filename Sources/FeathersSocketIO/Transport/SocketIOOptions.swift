public import FeathersCore
public import FeathersNetworking
import FeathersSupport

extension SocketIOTransport {
    /// The transports of Engine.IO.
    public enum EngineTransport: Sendable, Hashable {
        case webSocket
        /// HTTP long-polling. Works wherever HTTP does, at the cost of two requests for each exchange.
        case polling
    }

    /// What happens to calls made without a connection.
    public enum OfflineCalls: Sendable, Hashable {
        /// They wait in order for a connection until their deadline, at most `limit` of them and 16 MiB, or one message of ``Options/maximumMessageSize``.
        ///
        /// Calls that sign in or out have as much room again.
        case wait(limit: Int)
        /// They fail at once.
        case fail
    }

    /// The settings of a ``SocketIOTransport``.
    public struct Options: Sendable {
        /// The path of the Socket.IO server; a missing trailing slash is added.
        public var path = "/socket.io/"
        /// The namespace to join.
        public var namespace = "/"
        /// The transports to use, in the order in which they are tried.
        ///
        /// If polling comes first and WebSocket is listed too, a session moves to a WebSocket as soon as one is open. The default on watchOS is
        /// polling alone, since apps there have no WebSockets unless they play audio or make calls (Apple's TN3135).
        public var transports: [EngineTransport] = Options.usualTransports
        /// Makes the payload sent with each attempt to connect (`auth`); never printed.
        public var auth: (@Sendable () async throws -> JSONObject)?
        /// Makes the header fields of the requests that open or belong to a connection, for each attempt to connect; never printed.
        public var headers: (@Sendable () async throws -> [String: String])?
        /// Whether to recover a lost session with the events missed meanwhile, if the server offers that (Socket.IO's connection state recovery).
        ///
        /// Off by default, since a FeathersJS server treats the calls of a recovered connection as internal and lets them pass without
        /// authorization, unless its `connectionStateRecovery` says `skipMiddlewares: false`. Turn it on only for servers that say so.
        public var recoversState = false
        /// When to restore a lost connection.
        public var reconnection = ReconnectionPolicy()
        /// How long a call may take, including the wait for a connection, unless its params say otherwise; nil for no limit.
        public var callTimeout: Duration? = .seconds(10)
        /// How long one attempt to connect may take.
        public var connectTimeout: Duration = .seconds(20)
        /// What happens to calls made without a connection.
        public var offlineCalls = OfflineCalls.wait(limit: 1000)
        /// The largest message sent or accepted, in bytes; 16 MiB unless you say otherwise. The server's own limit (`maxPayload`) applies too.
        public var maximumMessageSize = TextLimit.standard
        /// How many binary attachments a packet may have.
        public var maximumAttachments = 10
        /// Receives reports about what could not be used or sent. Called on the connection's thread, so it must not block.
        public var onDiagnostic: (@Sendable (SocketIODiagnostic) -> Void)?
        /// The clock that measures time; it should continue while the machine sleeps.
        package var clock: any Clock<Duration> = ContinuousClock()
        /// The client that polls; nil for a new one for each session, so that no session reuses the connections of a lost one.
        public var httpClient: (any HTTPClient)?
        /// Opens WebSockets; nil for the platform's implementation.
        public var webSocketConnector: (any WebSocketConnector)?

        package init() {}

        #if os(watchOS)
            private static let usualTransports: [EngineTransport] = [.polling]
        #else
            private static let usualTransports: [EngineTransport] = [.webSocket, .polling]
        #endif
    }
}
