public import FeathersCore
public import FeathersNetworking

extension FeathersApp {
    /// Sends an endpoint's request and returns its response.
    ///
    /// The app's hooks see a call of the custom method `request` on the endpoint's path; hooks of services do not run.
    /// `params` holds the query, header fields, and timeout; `data` a JSON body; `result` the HTTP response's JSON
    /// before root keys and decoding (a string for `String`, null for bytes and files); `endpoint` everything else. If
    /// a hook sets `result`, it replaces the server's response.
    /// - Parameters:
    ///   - endpoint: The request, and how to read its HTTP response.
    ///   - transport: The transport to use; nil for the app's own if it is or contains a REST transport, otherwise
    ///     ``endpointTransport``.
    ///   - params: The parameters for hooks. The query, header fields, timeout, and coding override the endpoint's.
    /// - Throws: ``FeathersError``, with the message, data, and errors that the server sent; `CancellationError` if the
    ///   task is cancelled; or any error from hooks or the endpoint's own functions.
    @concurrent @discardableResult
    public func request<Response>(
        _ endpoint: Endpoint<Response>, over transport: RESTTransport? = nil, params: Params = Params()
    ) async throws -> Response {
        try await performEndpoint(endpoint, over: transport, params, progress: nil).value
    }

    /// Sends an endpoint's request and returns its response with status, header fields, and URL.
    ///
    /// A response that a cache returned has status 200 and no header fields.
    ///
    /// The parameters and errors are those of ``request(_:over:params:)``.
    @concurrent
    public func response<Response>(
        to endpoint: Endpoint<Response>, over transport: RESTTransport? = nil, params: Params = Params()
    ) async throws -> EndpointResponse<Response> {
        try await performEndpoint(endpoint, over: transport, params, progress: nil)
    }

    /// Sends an endpoint's request while `body` observes its progress.
    ///
    /// ```swift
    /// let response = try await app.transfer(upload) { progress in
    ///     for await step in progress { bar.value = step.fraction ?? 0 }
    /// }
    /// ```
    ///
    /// The sequence ends with the transfer, even if it fails, and buffers only the latest step for a slow reader. If
    /// the reader stops early, the transfer continues. If `body` throws or the calling task is cancelled, the transfer
    /// is cancelled, and a partial download is deleted.
    ///
    /// A transfer has no time limit unless the endpoint or params set a timeout. It fails if no data moves for as long
    /// as the transport's timeout.
    ///
    /// The other parameters are those of ``request(_:over:params:)``.
    /// - Throws: The errors of ``request(_:over:params:)``, or any error from `body`.
    @concurrent @discardableResult
    public func transfer<Response>(
        _ endpoint: Endpoint<Response>, over transport: RESTTransport? = nil, params: Params = Params(),
        progress body: @Sendable @escaping (AsyncStream<TransferProgress>) async throws -> Void
    ) async throws -> EndpointResponse<Response> {
        let (steps, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
        return try await withThrowingTaskGroup(of: EndpointResponse<Response>?.self) { group in
            group.addTask {
                defer { continuation.finish() }
                return try await self.performEndpoint(
                    endpoint, over: transport, params, progress: { continuation.yield($0) })
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

    /// The transport for endpoints in an app whose own transport neither is nor contains a REST transport, such as
    /// Socket.IO.
    ///
    /// If it leads to the app's own server, requests carry the app's credentials. If the app has no transport, or one
    /// that does not name a server, this transport's server counts as the app's own.
    public var endpointTransport: RESTTransport? {
        get { self[EndpointTransportKey.self] }
        set {
            self[EndpointTransportKey.self] = newValue
            endpointServer = newValue?.origin
        }
    }

    func performEndpoint<Response>(
        _ endpoint: Endpoint<Response>, over transport: RESTTransport?, _ params: Params,
        progress: (@Sendable (TransferProgress) -> Void)?
    ) async throws -> EndpointResponse<Response> {
        guard let transport = transport ?? self.transport?.component(RESTTransport.self) ?? endpointTransport else {
            throw FeathersError.refused(
                "The endpoint requires a REST transport, and the app has none: "
                    + "set 'endpointTransport', or pass one as 'over:'")
        }
        let codec = params.coding ?? endpoint.coding ?? coding
        var params = endpoint.params(with: params)
        let builder = try EndpointRequestBuilder(endpoint, transport.builder, params) { trusts($0) }
        params.carriesCredentials = builder.carriesCredentials
        params[EndpointCallKey.self] = EndpointCall(
            method: endpoint.method, carriesCredentials: builder.carriesCredentials)
        if endpoint.isStorable, progress == nil { params.endpointRead = EndpointRead { try builder.cacheKey(for: $0) } }
        let name = EndpointAddress.name(of: endpoint.path)
        let data: JSONValue? = if case .json(let encode)? = endpoint.body?.content { try encode(codec) } else { nil }
        let request = ServiceRequest(path: name, method: .endpointRequest, data: data, params: params)
        let service = EndpointResponder(builder: builder, transport: transport, progress: progress)
        let result = try await holdingTransport(transport) { try await respond(to: request, by: service) }
        // If no response was received, a hook set the result, or a cache returned it.
        let answer = try result[ReceivedResponse.self] ?? HTTPResponse(status: 200, url: builder.url(for: params))
        let value: Response
        do {
            value = try endpoint.reading.response(result, answer, codec)
        } catch {
            guard error is DecodingError || error is MissingRootKey else { throw error }
            throw FeathersError.undecodable("The response of \(endpoint.method) \(name)", as: Response.self, error)
        }
        return EndpointResponse(value: value, status: answer.status, headers: answer.headers, url: answer.url)
    }
}

extension Endpoint {
    /// Whether a cache may store the response: that of a `GET` without a body, read as JSON or text.
    var isStorable: Bool {
        guard method == .get, body == nil else { return false }
        switch reading.kind {
        case .json, .text: return true
        case .bytes, .nothing, .file: return false
        }
    }

    /// Returns the call's params, completed by the endpoint's.
    func params(with params: Params) -> Params {
        var merged = params
        if params.query.isEmpty { merged.query = query }
        merged.headers = headers.merging(params.headers) { $1 }
        merged.route = route.merging(params.route) { $1 }
        merged.timeout = params.timeout ?? timeout
        merged.isSafeToRepeat = method.readsOnly
        merged.travelsByHTTP = true
        return merged
    }
}

private enum EndpointTransportKey: AppSetting { typealias Value = RESTTransport }
