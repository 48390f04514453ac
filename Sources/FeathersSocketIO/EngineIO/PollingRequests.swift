import FeathersCore
import FeathersNetworking
import Foundation

struct PollingRequests: Sendable {
    let address: EngineAddress
    let headers: HTTPHeaders
    let client: any HTTPClient
    let limit: Int
    /// The cookies of the session; nil if it sends none back.
    var cookies: SessionCookies?

    /// Waits for packets. Opens a session if there is none.
    func poll(sid: String?, timeout: Duration?) async throws -> [EnginePacket] {
        let url = try address.url(transport: "polling", sid: sid)
        var request = HTTPRequest(
            url: url, headers: headers, timeout: timeout, redirects: .never, maximumResponseBytes: limit)
        // The packets of a lost response are not sent again, so the session must end rather than continue without them.
        request.isRepeatable = false
        let response = try await execute(request)
        do throws(EngineCodecError) {
            return try EnginePayload.packets(in: response.body, limit: limit)
        } catch {
            throw PollingError(description: "\(error)", isInvalid: true)
        }
    }

    /// Sends packets, and returns when the server has accepted them.
    func post(_ frames: [EngineFrame], sid: String) async throws {
        var headers = headers
        try headers.set("Content-Type", to: "text/plain;charset=UTF-8")
        let url = try address.url(transport: "polling", sid: sid)
        let response = try await execute(
            HTTPRequest(
                method: "POST", url: url, headers: headers, body: EnginePayload.body(of: frames), redirects: .never,
                maximumResponseBytes: limit))
        // Servers respond with "ok", whose type can be HTML. The page of a captive portal has not accepted anything.
        if response.body.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "<") {
            throw PollingError(description: "The server responded to packets with a web page", isInvalid: true)
        }
    }

    private func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        try cookies?.add(to: &request.headers)
        let response: HTTPResponse
        do {
            response = try await client.execute(request)
        } catch let error as HTTPClientError {
            throw PollingError(
                description: "\(error.message) (\(address.place))", neverSent: error.delivery == .neverSent)
        }
        cookies?.take(from: response)
        guard response.status == 200 else { throw PollingError(refusal: response) }
        return response
    }
}

struct PollingError: Error, CustomStringConvertible {
    let description: String
    /// Whether the request cannot have reached the server.
    var neverSent = false
    /// Whether the server sent something other than Engine.IO.
    var isInvalid = false
}

extension PollingError {
    /// Creates an error from a response. Engine.IO explains refusals in JSON: `{"code":1,"message":"Session ID
    /// unknown"}`.
    init(refusal response: HTTPResponse) {
        let json = try? JSONValue(parsing: response.body)
        // Engine.IO itself never responds with 404.
        let missing = response.status == 404 ? "no Socket.IO server found at \(response.url.withoutCredentials)" : nil
        let tooLarge = response.status == 413 ? "the request is larger than the server accepts" : nil
        let why = missing ?? json?["message"]?.string ?? tooLarge ?? "no reason given"
        self.init(description: "The server responded with \(response.status): \(why)")
    }
}
