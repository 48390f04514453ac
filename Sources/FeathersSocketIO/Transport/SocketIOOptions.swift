public import FeathersCore
public import FeathersNetworking

extension SocketIOTransport {
    /// How Engine.IO frames travel.
    public enum EngineTransport: Sendable, Hashable {
        case webSocket
        /// HTTP long-polling: works wherever HTTP does, at the price of two requests for each exchange.
        case polling

        var name: String {
            switch self {
            case .webSocket: "WebSocket"
            case .polling: "polling"
            }
        }
    }

    /// What becomes of calls made while there is no connection.
    public enum OfflineCalls: Sendable, Hashable {
        /// They wait, in order, for a connection until their deadline; at most so many.
        case wait(limit: Int)
        /// They fail at once.
        case fail
    }

    /// How a transport connects, calls and listens.
    public struct Options: Sendable {
        /// The path of the Socket.IO server; a trailing slash is added where it lacks one.
        public var path = "/socket.io/"
        /// The namespace to join.
        public var namespace = "/"
        /// The transports to use, in the order they are tried.
        ///
        /// With polling first, a session moves to a WebSocket as soon as one stands, provided it is listed too. On watchOS, which lets apps have no
        /// WebSockets unless they play sound or make calls (Apple's TN3135), it is polling alone unless said.
        public var transports: [EngineTransport] = Options.usualTransports
        /// The payload sent when a connection is made (`auth`), asked for on every attempt; never printed.
        public var auth: (@Sendable () async throws -> JSONObject)?
        /// Header fields of every request that opens or is part of a connection, asked for on every attempt; never printed.
        public var headers: (@Sendable () async throws -> [String: String])?
        /// Whether a lost session is asked back (Socket.IO's connection state recovery), with the events missed meanwhile, where the server offers it.
        ///
        /// Off, because a FeathersJS server takes the calls of a recovered connection for its own and lets them pass without authorization, unless
        /// its `connectionStateRecovery` says `skipMiddlewares: false`. Turn it on for servers that say so.
        public var recoversState = false
        /// When a lost connection is made again.
        public var reconnection = ReconnectionPolicy()
        /// How long a call may take unless it says otherwise, waiting for a connection included; nil for as long as it takes.
        public var callTimeout: Duration? = .seconds(10)
        /// How long one attempt to connect may take.
        public var connectTimeout: Duration = .seconds(20)
        /// What becomes of calls made while there is no connection.
        public var offlineCalls = OfflineCalls.wait(limit: 1000)
        /// The largest message sent or accepted, in bytes. What the server accepts (`maxPayload`) counts too.
        public var maximumMessageSize = 64 << 20
        /// How many binary attachments a packet may have.
        public var maximumAttachments = 10
        /// Told of what was received and could not be used; called on the connection's thread, so it must not block.
        public var onDiagnostic: (@Sendable (SocketIODiagnostic) -> Void)?
        /// What time is measured with; it should go on while the machine sleeps.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// What polling uses; nil for one of the transport's own, another for each session, so that none meets a lost one's connections.
        public var httpClient: (any HTTPClient)?
        /// What opens WebSockets; nil for the platform's.
        public var webSocketConnector: (any WebSocketConnector)?

        /// Options as they are unless set.
        public init() {}

        #if os(watchOS)
            private static let usualTransports: [EngineTransport] = [.polling]
        #else
            private static let usualTransports: [EngineTransport] = [.webSocket, .polling]
        #endif
    }
}
