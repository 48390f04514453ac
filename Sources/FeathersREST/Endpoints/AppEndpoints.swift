public import FeathersCore
public import FeathersNetworking

extension FeathersApp {
    /// Sends an endpoint's request and gives its response.
    ///
    /// It runs through the app's hooks as a call of the custom method `request` on the endpoint's path: `params` has query, header fields and timeout,
    /// `data` a JSON body, `result` the HTTP response's JSON before root keys and decoding (a string for a `String`, null for bytes and files), `endpoint` the rest. A hook
    /// that sets `result` answers in the server's place. Hooks of services do not run.
    /// - Parameters:
    ///   - endpoint: the request, and how its HTTP response is read.
    ///   - transport: over which the request goes; nil for the app's own transport where that is REST or made of it, else ``endpointTransport``.
    ///   - params: what hooks are to find. Query, header fields, timeout and coding win over the endpoint's.
    /// - Throws: ``FeathersError``, with the server's message, data and errors where it sent some, `CancellationError` when cancelled, and
    ///   what hooks and the endpoint's own functions throw.
    @concurrent @discardableResult
    public func request<Response>(
        _ endpoint: Endpoint<Response>, over transport: RESTTransport? = nil, params: Params = Params()
    ) async throws -> Response {
        try await perform(endpoint, over: transport, params, progress: nil).value
    }

    /// Sends an endpoint's request and gives its response with status, header fields and URL.
    ///
    /// The parameters and errors are those of ``request(_:over:params:)``.
    @concurrent
    public func response<Response>(
        to endpoint: Endpoint<Response>, over transport: RESTTransport? = nil, params: Params = Params()
    ) async throws -> EndpointResponse<Response> {
        try await perform(endpoint, over: transport, params, progress: nil)
    }

    /// Sends an endpoint's request while `body` watches how far it is.
    ///
    /// ```swift
    /// let response = try await app.transfer(upload) { progress in
    ///     for await step in progress { bar.value = step.fraction ?? 0 }
    /// }
    /// ```
    ///
    /// The sequence ends with the transfer, whatever becomes of it, and keeps only the latest step for a slow reader. A reader that stops early leaves
    /// the transfer going. Throwing from `body`, or cancelling the calling task, gives the transfer up: nothing of a download stays behind.
    ///
    /// A transfer takes as long as it needs, unless endpoint or params set a timeout; where nothing moves for the transport's timeout it fails.
    ///
    /// The other parameters are those of ``request(_:over:params:)``.
    /// - Throws: what ``request(_:over:params:)`` throws, and what `body` throws.
    @concurrent @discardableResult
    public func transfer<Response>(
        _ endpoint: Endpoint<Response>, over transport: RESTTransport? = nil, params: Params = Params(),
        progress body: @Sendable @escaping (AsyncStream<TransferProgress>) async throws -> Void
    ) async throws -> EndpointResponse<Response> {
        let (steps, continuation) = AsyncStream.makeStream(of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        return try await withThrowingTaskGroup(of: EndpointResponse<Response>?.self) { group in
            group.addTask {
                defer { continuation.finish() }
                return try await self.perform(endpoint, over: transport, params, progress: { continuation.yield($0) })
            }
            group.addTask {
                try await body(steps)
                return nil
            }
            defer { group.cancelAll() }
            var response: EndpointResponse<Response>?
            while let finished = try await group.next() { response = finished ?? response }
            guard let response else { throw CancellationError() }
            return response
        }
    }

    /// Over what endpoints' requests go in an app whose own transport is not REST, nor made of it: a Socket.IO one for instance.
    ///
    /// Where it leads to the app's own server, the app's credentials go along. In an app whose transport names no server, or that has none,
    /// this one's server is the app's own.
    public var endpointTransport: RESTTransport? {
        get { self[EndpointTransportKey.self] }
        set {
            self[EndpointTransportKey.self] = newValue
            endpointServer = newValue?.origin
        }
    }

    func perform<Response>(
        _ endpoint: Endpoint<Response>, over transport: RESTTransport?, _ params: Params, progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> EndpointResponse<Response> {
        guard let transport = transport ?? self.transport?.component(RESTTransport.self) ?? endpointTransport else {
            throw FeathersError.refused(
                "An endpoint needs a REST transport, and this app has none: set 'endpointTransport', or name one with 'over:'")
        }
        let codec = params.coding ?? endpoint.coding ?? coding
        var params = endpoint.params(with: params)
        let builder = try EndpointRequestBuilder(endpoint, transport.builder, params) { trusts($0) }
        params.carriesCredentials = builder.carriesCredentials
        params[EndpointCallKey.self] = EndpointCall(method: endpoint.method, carriesCredentials: builder.carriesCredentials)
        let name = EndpointAddress.name(of: endpoint.path)
        let data: JSONValue? = if case .json(let encode)? = endpoint.body?.content { try encode(codec) } else { nil }
        let request = ServiceRequest(path: name, method: .endpointRequest, data: data, params: params)
        let service = EndpointService(builder: builder, transport: transport, progress: progress)
        let result = try await using(transport) { try await respond(to: request, by: service) }
        // Without one, a hook has set the result.
        let answer = try result[ReceivedResponse.self] ?? HTTPResponse(status: 200, url: builder.url(for: params))
        let value: Response
        do {
            value = try endpoint.reading.response(result, answer, codec)
        } catch {
            guard error is DecodingError || error is MissingRootKey else { throw error }
            throw FeathersError.undecodable("The answer of \(endpoint.method) \(name)", as: Response.self, error)
        }
        return EndpointResponse(value: value, status: answer.status, headers: answer.headers, url: answer.url)
    }
}

extension Endpoint {
    /// What the call's params say, else the endpoint.
    fileprivate func params(with params: Params) -> Params {
        var merged = params
        if params.query.isEmpty { merged.query = query }
        merged.headers = headers.merging(params.headers) { $1 }
        merged.route = route.merging(params.route) { $1 }
        merged.timeout = params.timeout ?? timeout
        merged.isSafeToRepeat = method.isSafe
        merged.travelsByHTTP = true
        return merged
    }
}

private enum EndpointTransportKey: AppSetting { typealias Value = RESTTransport }
