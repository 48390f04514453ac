public import FeathersCore
public import FeathersNetworking
import FeathersSupport

extension Feathers6Transport {
    /// The settings of a ``Feathers6Transport``.
    public struct Options: Sendable {
        /// The path of the event stream below the base URL: the one at which the server registered its `SseService`.
        public var path = "sse"
        /// The query with which the event stream is opened. Servers can use it to choose channels.
        public var query = Query<JSONValue>()
        /// The header fields of every request; those of a call take precedence. They are never printed.
        public var headers: [String: String] = [:]
        /// The time limit for a call, including redirects, unless its params set another one. Nil means no limit.
        public var callTimeout: Duration? = .seconds(60)
        /// The time limit for one attempt to open the event stream, until its first event.
        public var connectTimeout: Duration = .seconds(20)
        /// The policy for restoring a lost event stream.
        public var reconnection = ReconnectionPolicy()
        /// How long the event stream may be silent before it is replaced by a new one, with a gap; nil for no limit.
        ///
        /// FeathersJS 6 sends no heartbeat, so the silence of a lost connection looks like that of a quiet server. The
        /// operating system finds most lost connections earlier, by probing silent ones every 15 seconds (TCP
        /// keepalive; not on `URLSession`). Those beyond a proxy are found by this limit alone. If your server sends
        /// comments as a heartbeat, set about three times their interval.
        public var silenceLimit: Duration? = .seconds(300)
        /// How queries become query strings, and whether the server parses the types in them. The defaults are
        /// FeathersJS 6's limits.
        public var queryOptions = QueryStringOptions(arrayLimit: 2000, pairLimit: 2000)
        /// The maximum size of a response in bytes, after decompression. The default is 16 MiB. Streams of results have
        /// no limit.
        public var maximumResponseBytes = HTTPRequest.defaultMaximumResponseBytes
        /// The maximum size of one event, or of one item of a streamed result, in bytes. The default is 16 MiB.
        public var maximumEventBytes = TextLimit.standard
        /// A closure that receives one sentence about an event that could not be used. It is called on the thread that
        /// receives the stream, so it must not block.
        public var onUnusableEvent: (@Sendable (String) -> Void)?
        /// The client for calls and the event stream; nil for two new ones. It must be a ``StreamingHTTPClient``.
        public var httpClient: (any HTTPClient)?
        /// The clock that measures the times of the event stream. It should continue while the machine sleeps.
        package var clock: any Clock<Duration> = ContinuousClock()

        package init() {}
    }
}
