public import FeathersCore
public import FeathersNetworking
import FeathersSupport

extension SocketIOTransport {
    /// The transports of Engine.IO.
    public enum EngineTransport: Sendable, Hashable {
        case webSocket
        /// HTTP long-polling. It works wherever HTTP does, but needs two requests for each exchange.
        case polling
    }

    /// The handling of calls made without a connection.
    public enum OfflineCalls: Sendable, Hashable {
        /// Calls wait in order until their deadline: at most `limit` calls and 16 MiB, or
        /// ``Options/maximumMessageSize`` if that is larger.
        ///
        /// Calls that sign in or out have a separate queue with the same limits.
        case wait(limit: Int)
        /// Calls fail immediately.
        case fail
    }

    /// The settings of a ``SocketIOTransport``.
    public struct Options: Sendable {
        /// The path of the Socket.IO server. A trailing slash is added if missing.
        public var path = "/socket.io/"
        /// The namespace to join.
        public var namespace = "/"
        /// The transports to use, in the order in which to try them: a WebSocket, then polling.
        ///
        /// The next one is tried if a session cannot be opened. A session that is open stays on its transport. The
        /// default on watchOS is polling only, because apps there have no WebSockets unless they play audio or make
        /// calls (Apple's TN3135).
        public var transports: [EngineTransport] = Options.usualTransports
        /// A closure that creates the payload for each attempt to connect (`auth`). It is never printed.
        public var auth: (@Sendable () async throws -> JSONObject)?
        /// A closure that creates the header fields of a connection's requests, for each attempt to connect. They are
        /// never printed.
        public var headers: (@Sendable () async throws -> [String: String])?
        /// Whether a polling session sends back the cookies that it receives, as a load balancer with sticky sessions
        /// requires (such as `AWSALB`, or Socket.IO's `io`).
        ///
        /// Off by default. Without them, such a balancer sends a session's requests to several servers, which respond
        /// with "Session ID unknown". Each session begins without cookies. A WebSocket is one connection and needs
        /// none.
        public var keepsCookies = false
        /// Whether to recover a lost session, including missed events, if the server supports it (Socket.IO's
        /// connection state recovery).
        ///
        /// Off by default: a FeathersJS server treats calls over a recovered connection as internal and does not
        /// authorize them, unless its `connectionStateRecovery` sets `skipMiddlewares: false`. Turn it on only for
        /// servers with this setting.
        public var recoversState = false
        /// The policy for restoring a lost connection.
        public var reconnection = ReconnectionPolicy()
        /// The time limit for a call, including the wait for a connection, unless its params set another one. Nil means
        /// no limit.
        public var callTimeout: Duration? = .seconds(10)
        /// The time limit for one attempt to connect. ``auth`` and ``headers`` are cancelled after the same time.
        public var connectTimeout: Duration = .seconds(20)
        /// The handling of calls made without a connection.
        public var offlineCalls = OfflineCalls.wait(limit: 1000)
        /// The maximum size of a message sent or received, in bytes. The default is 16 MiB. The server's own limit
        /// (`maxPayload`) also applies.
        public var maximumMessageSize = TextLimit.standard
        /// The maximum number of binary attachments in a packet.
        public var maximumAttachments = 10
        /// A closure that receives reports about what could not be used or sent. It is called on the connection's
        /// thread, so it must not block.
        public var onDiagnostic: (@Sendable (SocketIODiagnostic) -> Void)?
        /// The clock that measures time. It should continue while the machine sleeps.
        package var clock: any Clock<Duration> = ContinuousClock()
        /// The client for polling. If nil, each session gets a new one, so that no session reuses the connections of a
        /// lost one.
        public var httpClient: (any HTTPClient)?
        /// The connector for WebSockets, or nil for the platform's implementation.
        public var webSocketConnector: (any WebSocketConnector)?

        package init() {}

        #if os(watchOS)
            private static let usualTransports: [EngineTransport] = [.polling]
        #else
            private static let usualTransports: [EngineTransport] = [.webSocket, .polling]
        #endif
    }
}
