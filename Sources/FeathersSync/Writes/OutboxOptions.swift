import FeathersCore

/// Options for how an outbox sends writes.
public struct OutboxOptions: Sendable {
    /// Whether the server executes a write only once, no matter how often it arrives with the same key. FeathersJS by
    /// itself does not.
    ///
    /// If `true`, a write that may have been executed is sent again. If `false`, ``decide`` is called for it. Set this
    /// only if the server looks for the key in one of ``keyPlaces``.
    public var isKeyed = false
    /// Where the key is sent, also when ``isKeyed`` is `false`.
    public var keyPlaces: [IdempotencyKeyPlace] = [.header()]
    /// Options for individual services, by path.
    public var services: [String: OutboxServiceOptions] = [:]
    /// The number of lanes that send at the same time.
    public var concurrentLanes = 4
    /// The time limit of an attempt; nil for the transport's own limit.
    public var attemptTimeout: Duration? = .seconds(60)
    /// Whether a patch is merged into the previous write if that is an unsent patch of the same record.
    public var squashesPatches = true
    /// The delays between attempts. A transport with a connection waits for the connection to return instead.
    public var retry = OutboxRetry()
    /// Decides about a write that was refused, or that may have been executed. Return nil to decide later with
    /// ``Outbox/decide(_:for:)``.
    ///
    /// The function is called once for each failure, possibly concurrently, and again after a restart. If its task is
    /// cancelled, its result is ignored.
    public var decide: @Sendable (OutboxFailure) async -> OutboxDecision? = { _ in nil }
    /// Rewrites the pending writes that an older version of the app has queued, when the outbox is opened, before any
    /// of them is shown or sent.
    ///
    /// The function is called for each pending write at each opening, so it must leave those alone that need no change
    /// or have been rewritten before. Recognize old writes by the shape of their data, or by ``OutboxWrite/date``.
    ///
    /// You can change the path, the method, the record's id, the data, the query, the route, and the base, which
    /// ``OutboxDecision/merge`` compares with the data. A write cannot begin or cease to be a `create`. It keeps its
    /// key, its user, its position in the order, and the writes for which it waits; its record is now that of its new
    /// path, route and id. All changes are stored together.
    ///
    /// If the function throws, the outbox is not opened, with an error that names the file and the write, and nothing
    /// is changed.
    public var migrate: @Sendable (inout OutboxWrite) throws -> Void = { _ in }
    package var clock: any Clock<Duration> = ContinuousClock()
    /// Measures how long the database's log has had changes.
    package var logClock: any Clock<Duration> = ContinuousClock()
    /// Whether the records of responses are stored, because those of live queries are stored beside the outbox.
    var storesRecords = false

    init(_ configure: (inout OutboxOptions) -> Void = { _ in }) { configure(&self) }

    func service(at path: String) -> OutboxServiceOptions { services[path] ?? standard }

    /// The options of services without their own.
    var standard: OutboxServiceOptions { OutboxServiceOptions(isKeyed: isKeyed, keyPlaces: keyPlaces) }
}

/// Options for how the writes of one service are sent.
public struct OutboxServiceOptions: Sendable, Hashable {
    let isKeyed: Bool
    let keyPlaces: [IdempotencyKeyPlace]

    /// Creates options for one service that replace ``OutboxOptions/isKeyed`` and ``OutboxOptions/keyPlaces``.
    public init(isKeyed: Bool, keyPlaces: [IdempotencyKeyPlace] = [.header()]) {
        (self.isKeyed, self.keyPlaces) = (isKeyed, keyPlaces)
    }

    /// Whether the server recognizes some writes by a header field alone, which only HTTP carries.
    var needsHTTP: Bool {
        guard isKeyed else { return false }
        let isInQuery = keyPlaces.contains { if case .query = $0 { true } else { false } }
        return !isInQuery && keyPlaces.contains { if case .header = $0 { true } else { false } }
    }

    /// Returns whether the server recognizes a repetition of this write.
    func recognizesRepetition(of write: OutboxWrite) -> Bool {
        guard isKeyed else { return false }
        return keyPlaces.contains { place in
            if case .recordID = place { write.method == .create } else { true }
        }
    }

    /// Returns the request that sends a write. `carriesFields` tells whether its transport always sends header fields.
    func request(for write: OutboxWrite, timeout: Duration?, carriesFields: Bool = true) -> ServiceRequest {
        var params = Params(query: write.query, route: write.route, timeout: timeout)
        // A connection carries no header fields.
        params.travelsByHTTP = needsHTTP
        if let tag = write.entityTag { params.expect(tag) }
        for place in keyPlaces {
            switch place {
            case .header(let name) where carriesFields || params.travelsByHTTP:
                params.headers[name] = "\"\(write.key.text)\""
            case .query(let name): params.query.json[name] = .string(write.key.text)
            case .header, .recordID: break
            }
        }
        return ServiceRequest(
            path: write.path, method: write.method, id: write.recordID, data: write.data, params: params)
    }

    /// The property for which the outbox generates ids; nil if the server generates them.
    var recordIDProperty: String? {
        for case .recordID(let property) in keyPlaces { return property }
        return nil
    }
}

extension FeathersError {
    /// The error for keys that would never reach the server.
    static var unsentKeys: FeathersError {
        FeathersError(
            .badRequest,
            """
            The server recognizes some repeated writes by a header field alone, which a connection does not send: add \
            '.query(…)' to 'keyPlaces', leave out '.header()', or use a mixed transport
            """,
            execution: .neverSent)
    }
}

/// The place where a server finds the key by which it recognizes a repeated write.
public enum IdempotencyKeyPlace: Sendable, Hashable {
    /// In a header field, as a quoted string (draft-ietf-httpapi-idempotency-key-header). Needs HTTP: a mixed transport
    /// sends keyed writes over REST.
    case header(_ name: String = "Idempotency-Key")
    /// In the query, over any transport. The service must remove it: for `update`, `patch` and `remove`, it would be a
    /// condition.
    case query(_ name: String)
    /// As the id of the record that `create` makes, unless the data already has one. Has no effect on other methods.
    ///
    /// You can queue later writes to that record before it is created: they are sent after it. The server refuses a
    /// repetition because the id is taken. The outbox then reads the record and uses it as the result.
    case recordID(_ property: String = "id")
}

/// The delays between the attempts of an outbox.
public struct OutboxRetry: Sendable, Hashable {
    private let initialDelay: Duration
    private let maximumDelay: Duration
    private let multiplier: Double
    private let jitter: Double

    /// Creates the delays between attempts.
    /// - Parameters:
    ///   - initialDelay: The upper bound of the first delay.
    ///   - maximumDelay: The upper bound of every delay. If the server requests a longer one (`Retry-After`), it is
    ///     honored up to one hour.
    ///   - multiplier: The factor by which each delay is longer than the previous one.
    ///   - jitter: The random part of a delay, from 0 to 1. It keeps the clients of a failed server from returning at
    ///     the same moment.
    public init(
        initialDelay: Duration = .seconds(1), maximumDelay: Duration = .seconds(60), multiplier: Double = 2,
        jitter: Double = 0.5
    ) {
        (self.initialDelay, self.maximumDelay, self.multiplier, self.jitter) = (
            initialDelay, maximumDelay, multiplier, jitter
        )
    }

    /// The upper bound of delays that servers request, so that no response can delay a write for years.
    private var longestRequestedDelay: Duration { max(maximumDelay, .seconds(3600)) }

    /// - Parameters:
    ///   - failures: The number of consecutive failed attempts, starting at 1.
    ///   - requested: The delay that the server requested.
    ///   - random: A random number from 0 to 1.
    func delay(after failures: Int, requested: Duration? = nil, random: Double) -> Duration {
        if let requested {
            return max(delay(after: failures, random: random), min(requested, longestRequestedDelay))
        }
        return .backoff(
            after: failures - 1, from: initialDelay, atMost: maximumDelay, multiplier: multiplier, jitter: jitter,
            random: random)
    }
}
