/// A service call as a value. Every transport and every local service receives one.
public struct ServiceRequest: Sendable {
    /// The service's path without leading and trailing slashes. Its placeholders (`:userId`) are not replaced.
    public var path: String

    /// The method to call.
    public var method: ServiceMethod

    /// The record's id. For `update`, `patch` and `remove`, nil is Feathers' null id: every record that matches the
    /// query.
    public var id: ServiceID?

    /// The payload of `create`, `update`, `patch` and custom methods.
    public var data: JSONValue?

    /// The query, the header fields and other parameters of the call.
    public var params: Params

    /// The user that the request is sent as. Set by the sign-in gate; nil if the app has no authentication.
    package var sender: RequestSender?

    /// The token that the call is made with instead of the app's own; nil if it has none.
    package var callToken: CallToken?

    /// The lowercase names of the app's ``FeathersApp/harmlessHeaders``; nil for the default ones. Set immediately
    /// before sending.
    package var harmlessFields: Set<String>?

    /// Whether the outbox sends the request. It belongs to the user who queued it.
    package var isQueuedWrite = false

    /// Whether the caller reads the result as a stream of items. A transport then returns a ``ResultStream`` if the
    /// server streams.
    package var streamsResult = false

    /// Creates a request for one method of the service at `path`.
    public init(
        path: String, method: ServiceMethod, id: ServiceID? = nil, data: JSONValue? = nil, params: Params = Params()
    ) {
        self.path = path
        self.method = method
        self.id = id
        self.data = data
        self.params = params
    }
}

extension ServiceRequest {
    /// Whether executing the request twice has no additional effect.
    package var isSafeToRepeat: Bool { method == .find || method == .get || params.isSafeToRepeat }

    /// Whether the app still has the sign-in under which the request was made.
    package var isCurrent: Bool { sender?.isCurrent ?? true }

    /// - Throws: ``FeathersError/Code/notAuthenticated``, before sending, if the user has changed since the request
    ///   passed the sign-in gate.
    package func checkSender() throws(FeathersError) {
        if !isCurrent { throw .senderChanged(self) }
    }

    /// Checks the response to this call: a read is not passed on after its user has left. The response to a write
    /// always is, because it reports what has happened.
    /// - Throws: ``FeathersError/Code/notAuthenticated`` if the user has changed.
    package func checked(_ response: ServiceResponse) throws(FeathersError) -> ServiceResponse {
        guard let sender, method == .find || method == .get else { return response }
        let check: @Sendable () throws(FeathersError) -> Void = { () throws(FeathersError) in
            if sender.isCurrent { return }
            throw FeathersError(
                .notAuthenticated, "The signed-in user changed before the response arrived", execution: .answered)
        }
        try check()
        guard response.isStream else { return response }
        // The items of a streamed read arrive later.
        var response = response
        response[ResultStream.self]?.check = check
        return response
    }
}

extension FeathersError {
    /// Returns the error for a request whose user logged out, or was replaced, before it was sent.
    package static func senderChanged(_ request: ServiceRequest) -> FeathersError {
        FeathersError(
            .notAuthenticated,
            "'\(request.method)' on service '\(request.path)' was not sent: the signed-in user changed while it waited",
            execution: .neverSent)
    }
}

extension Params {
    /// Whether the call fails immediately without a connection instead of waiting for one (Socket.IO's `volatile`).
    public var isVolatile: Bool {
        get { self[VolatileCall.self] ?? false }
        set { self[VolatileCall.self] = newValue ? true : nil }
    }

    /// Whether executing the call twice has no additional effect, even if its method does not imply that, as for a
    /// read-only endpoint.
    package var isSafeToRepeat: Bool {
        get { self[SafeToRepeat.self] ?? false }
        set { self[SafeToRepeat.self] = newValue ? true : nil }
    }

    /// Whether the app's tokens may be sent to the server of this call. False for endpoints of other origins.
    package var carriesCredentials: Bool {
        get { self[CarriesCredentials.self] ?? true }
        set { self[CarriesCredentials.self] = newValue ? nil : false }
    }

    /// Whether the call uses HTTP regardless of the app's transport, as endpoints do.
    package var travelsByHTTP: Bool {
        get { self[TravelsByHTTP.self] ?? false }
        set { self[TravelsByHTTP.self] = newValue ? true : nil }
    }

    /// Whether the call signs the connection in or out.
    ///
    /// Real-time transports send such calls in a separate lane: immediately after the server has accepted the
    /// connection, ahead of the calls that wait until it is prepared. A transport with a fallback uses it for these
    /// calls while there is no connection, regardless of the method.
    package var concernsConnection: Bool {
        get { self[ConcernsConnection.self] ?? false }
        set { self[ConcernsConnection.self] = newValue ? true : nil }
    }

    /// Whether the call logs out, and so may still be sent over a connection that ends with its user.
    package var endsConnection: Bool {
        get { self[EndsConnection.self] ?? false }
        set { self[EndsConnection.self] = newValue ? true : nil }
    }

    /// Whether a call is a live query's, which shows the records of the app's own user only.
    package var isLive: Bool {
        get { self[IsLive.self] ?? false }
        set { self[IsLive.self] = newValue ? true : nil }
    }

    /// Whether a read must reach the server rather than a cache. Live queries set it.
    package var readsFromServer: Bool {
        get { self[ReadsFromServer.self] ?? false }
        set { self[ReadsFromServer.self] = newValue ? true : nil }
    }

    /// The information that a cache needs about an endpoint's call whose response it may store; nil for every other
    /// call.
    package var endpointRead: EndpointRead? {
        get { self[EndpointRead.self] }
        set { self[EndpointRead.self] = newValue }
    }

    /// A result that the caller already has and that the server need not send again (HTTP's `If-None-Match`).
    package var heldResponse: HeldResponse? {
        get { self[HeldResponse.self] }
        set { self[HeldResponse.self] = newValue }
    }
}

/// An earlier response of the server with its entity tag, for conditional reads (RFC 9110, section 13.1.2).
package struct HeldResponse: ParamsKey, Sendable {
    package typealias Value = HeldResponse

    package let entityTag: String
    package let value: JSONValue

    package init(entityTag: String, value: JSONValue) {
        self.entityTag = entityTag
        self.value = value
    }
}

/// Everything that the response to an endpoint's call depends on, besides what every call contains. Set for `GET`
/// requests whose response is JSON or text.
package struct EndpointRead: ParamsKey, Sendable {
    package typealias Value = EndpointRead

    /// Returns the URL and the rest as text without secrets, for params as hooks have left them.
    package let key: @Sendable (Params) throws -> [String]

    package init(key: @escaping @Sendable (Params) throws -> [String]) { self.key = key }
}

private enum VolatileCall: ParamsKey { typealias Value = Bool }
private enum SafeToRepeat: ParamsKey { typealias Value = Bool }
private enum CarriesCredentials: ParamsKey { typealias Value = Bool }
private enum TravelsByHTTP: ParamsKey { typealias Value = Bool }
private enum ConcernsConnection: ParamsKey { typealias Value = Bool }
private enum EndsConnection: ParamsKey { typealias Value = Bool }
private enum ReadsFromServer: ParamsKey { typealias Value = Bool }
private enum IsLive: ParamsKey { typealias Value = Bool }
