/// The way to a server: carries service requests, knows nothing of hooks.
///
/// A transport is shared by every service of an app and must accept any number of requests at once.
public protocol Transport: Sendable {
    /// Sends one request and waits for its answer.
    ///
    /// Cancelling the calling task gives the request up; the transport stays usable.
    /// - Returns: the server's result; JSON null where it sent none.
    /// - Throws: ``FeathersError`` for every failure, `CancellationError` when cancelled.
    func send(_ request: ServiceRequest) async throws -> JSONValue
}
