import FeathersCore
import FeathersNetworking
import FeathersSupport
import Foundation

@testable import FeathersREST
@testable import FeathersTesting

/// A server of event streams without a network: each request waits until the test responds to it.
final class SampleStreams: StreamingHTTPClient {
    struct Opening: Sendable {
        let request: HTTPRequest
        let pipe: HTTPBodyPipe

        /// Accepts the stream.
        /// - Parameter url: Where a redirect has led to; nil if there was none.
        func accept(type: String = "text/event-stream", status: Int = 200, at url: URL? = nil) {
            let fields: [HTTPHeaders.Field] = [("Content-Type", type)]
            pipe.open(HTTPResponse(status: status, headers: HTTPHeaders(received: fields), url: url ?? request.url)) {}
        }

        func send(_ text: String) { send(Array(text.utf8)[...]) }
        func send(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { _ = pipe.write($0) } }

        func greet() {
            accept()
            send(#"data: {"event":"connected","data":{},"path":"sse"}"# + "\n\n")
        }

        func emit(_ event: String, _ path: String, _ data: String) {
            send(#"data: {"event":"\#(event)","data":\#(data),"path":"\#(path)"}"# + "\n\n")
        }

        func end() { pipe.end(.success(HTTPResponse(status: 200, url: request.url))) }
        func fail(_ error: HTTPClientError) { pipe.end(.failure(error)) }

        func refuse(_ status: Int, _ body: String = "") {
            pipe.end(.success(HTTPResponse(status: status, body: Array(body.utf8), url: request.url)))
        }
    }

    private let openings = ObservedState([Opening]())
    private let ended = ObservedState(0)
    private let calls: @Sendable (HTTPRequest) throws -> HTTPResponse

    init(
        _ calls: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse = {
            HTTPResponse(status: 200, body: Array("[]".utf8), url: $0.url)
        }
    ) {
        self.calls = calls
    }

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse { try calls(request) }

    func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
        guard let pipe = transfer.pipe else { return try calls(transfer.request) }
        openings.update { $0.append(Opening(request: transfer.request, pipe: pipe)) }
        defer { ended.update { $0 += 1 } }
        try await Promise<Void>().value()
        return HTTPResponse(status: 200, url: transfer.request.url)
    }

    /// Waits for the nth request, counted from 1.
    func opening(_ number: Int) async throws -> Opening {
        try await openings.wait { $0.count >= number }
        return openings.current[number - 1]
    }

    var count: Int { openings.current.count }

    func cancelAll() {
        for opening in openings.current { opening.fail(.allCancelled(host: "sample.test", delivery: .mayHaveExecuted)) }
    }

    /// Waits until this many streams have been given up.
    func waitForEnds(_ count: Int) async throws { try await ended.wait { $0 >= count } }
}

/// What a transport's sink has received, in words.
final class SampleSink: Sendable {
    private let heard = ObservedState([String]())

    var sink: EventSink {
        EventSink(
            onEvent: { event in self.heard.update { $0.append("\(event.path) \(event.name) \(event.data)") } },
            onGap: { reason in self.heard.update { $0.append("gap \(reason)") } })
    }

    func lines(_ count: Int) async throws -> [String] {
        try await heard.wait { $0.count >= count }
        return heard.current
    }

    var lines: [String] { heard.current }
}
