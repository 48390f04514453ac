public import FeathersCore
public import FeathersNetworking
import FeathersSupport
import Foundation

/// An HTTP client that reports every exchange of another client as ``DiagnosticDomain/http``.
///
/// ```swift
/// let app = FeathersApp(transport: .rest(url, httpClient: ReportingHTTPClient()))
/// app.use(diagnostics: .standardError, levels: DiagnosticLevels(.info, [.http: .debug]))
/// ```
///
/// An exchange belongs to the call that makes it, and is reported to the sinks of that call's app. Responses with a
/// status below 400 are reported as ``DiagnosticLevel/debug``; other responses and failures as
/// ``DiagnosticLevel/notice``, because the call reports its own outcome. If no sink wants these events, nothing is
/// measured.
public struct ReportingHTTPClient: StreamingHTTPClient {
    private let client: any HTTPClient
    private let diagnostics: Diagnostics?

    /// Creates a client that reports the exchanges of another one.
    /// - Parameters:
    ///   - client: The client that sends the requests; nil for a new one, ``PlatformHTTPClient/make()``.
    ///   - diagnostics: The destination for exchanges that do not belong to a call; nil to discard them.
    public init(_ client: (any HTTPClient)? = nil, diagnostics: Diagnostics? = nil) {
        self.client = client ?? PlatformHTTPClient.make()
        self.diagnostics = diagnostics
    }

    public func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await report(request) { try await client.execute(request) }
    }

    /// Performs a transfer, in memory if the client cannot stream. Streamed bodies are not reported.
    public func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
        try await report(transfer.request) { try await client.transfer(transfer) }
    }

    public func cancelAll() { client.cancelAll() }

    private func report(_ request: HTTPRequest, _ exchange: () async throws -> HTTPResponse) async throws
        -> HTTPResponse
    {
        let current = Diagnostics.current
        let diagnostics = current.callID == nil ? self.diagnostics ?? current : current
        // Failures are reported at this level, so a sink that does not want it wants nothing.
        guard diagnostics.wants(.notice, .http) else { return try await exchange() }
        let start = ContinuousClock.now
        do {
            let response = try await exchange()
            let level: DiagnosticLevel = response.status < 400 ? .debug : .notice
            diagnostics.report(level, .http) { detail in
                let status = DiagnosticAttributes.Value.integer(response.status)
                return exchangeReport(
                    request, "\(response.status)", start.duration(to: .now), detail, status, as: .status, response)
            }
            return response
        } catch {
            let outcome = error is CancellationError ? "cancelled" : "failed"
            diagnostics.report(error is CancellationError ? .debug : .notice, .http, error: error) { detail in
                let text = (error as? HTTPClientError).map { ": \(detail.redaction.redact(text: $0.message))" } ?? ""
                return exchangeReport(
                    request, outcome + text, start.duration(to: .now), detail, .string(outcome), as: .outcome)
            }
            throw error
        }
    }
}

extension ReportingHTTPClient: RequestQueueing {
    package var waitingRequests: Int { (client as? any RequestQueueing)?.waitingRequests ?? 0 }

    private func exchangeReport(
        _ request: HTTPRequest, _ outcome: String, _ duration: Duration, _ detail: DiagnosticDetail,
        _ value: DiagnosticAttributes.Value, as name: DiagnosticAttributes.Name, _ response: HTTPResponse? = nil
    ) -> DiagnosticReport {
        let url = request.url.text(redactedBy: detail.redaction)
        var attributes: DiagnosticAttributes = [
            .method: .string(request.method), .url: .string(url), .duration: .duration(duration),
        ]
        attributes.append(value, as: name)
        let toldCount = attributes.count
        attributes.append(detail.headers(request.headers.reportedFields), as: .headers)
        attributes.append(request.body.flatMap { detail.body($0, type: request.headers["Content-Type"]) }, as: .data)
        if let response {
            attributes.append(detail.headers(response.headers.reportedFields), as: .answerHeaders)
            attributes.append(detail.body(response.body, type: response.headers["Content-Type"]), as: .result)
        }
        return ("\(request.method) \(url) \(outcome) (\(duration.wholeMilliseconds) ms)", attributes, toldCount)
    }
}

extension DiagnosticAttributes {
    fileprivate mutating func append(_ value: Value?, as name: Name) { if let value { append(value, as: name) } }
}

extension HTTPHeaders {
    fileprivate var reportedFields: some Sequence<(key: String, value: String)> {
        map { (key: $0.name, value: $0.value) }
    }
}

extension URL {
    /// Returns the URL without user and password, and without the values of secret names in its query.
    fileprivate func text(redactedBy redaction: Redaction) -> String {
        let origin = "\(scheme ?? "")://\(hostAndPort ?? "")"
        let query = query(percentEncoded: true).map { "?\(redaction.redact(form: $0))" } ?? ""
        return origin + redaction.redact(text: path(percentEncoded: true)) + query
    }
}
