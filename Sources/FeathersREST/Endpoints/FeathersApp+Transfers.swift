public import FeathersCore
public import FeathersNetworking

extension FeathersApp {
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
    /// - Parameters:
    ///   - endpoint: the request, and how its answer is read.
    ///   - transport: over which the request goes, as for ``request(_:over:params:)``.
    ///   - params: what hooks are to find, as for ``request(_:over:params:)``.
    ///   - body: runs beside the transfer.
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
}
