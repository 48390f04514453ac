import FeathersCore
import FeathersNetworking
import FeathersSupport
import Testing

@testable import FeathersSocketIO

@Suite("A captive portal between a polling client and its server", .timeLimit(.minutes(10)))
struct PollingPortalTests {
    struct Page: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let status: Int
        var fields: [HTTPHeaders.Field] = [("Content-Type", "text/html")]
        var body = "\n<!DOCTYPE html><title>Free Wi-Fi</title>"

        func response(to request: HTTPRequest) -> HTTPResponse {
            HTTPResponse(
                status: status, headers: HTTPHeaders(received: fields), body: Array(body.utf8), url: request.url)
        }

        static let all = [
            Page(testDescription: "200", status: 200),
            Page(testDescription: "302", status: 302, fields: [("Location", "http://portal.test/")], body: ""),
            Page(testDescription: "511", status: 511),
        ]
    }

    /// Responds like a server until the portal intercepts requests of a method.
    private final class Network: HTTPClient {
        let page: Page
        private let joined = Promise<Void>()
        private let state: Locked<(polls: Int, intercepted: String?)>

        init(_ page: Page, intercepts method: String? = nil) {
            self.page = page
            state = Locked((0, method))
        }

        func intercept(_ method: String) { state.withLock { $0.intercepted = method } }

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let (polls, isIntercepted) = state.withLock { state in
                if request.method == "GET" { state.polls += 1 }
                return (state.polls, state.intercepted == request.method)
            }
            if isIntercepted { return page.response(to: request) }
            guard request.method == "GET" else {
                joined.resolve(())
                // As Engine.IO does it: with the type of HTML.
                let html = HTTPHeaders(received: [("Content-Type", "text/html")])
                return HTTPResponse(status: 200, headers: html, body: Array("ok".utf8), url: request.url)
            }
            let handshake = #"0{"sid":"e","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#
            let packets = [handshake, #"40{"sid":"s"}"#]
            guard polls <= packets.count else { return try await Promise<HTTPResponse>().value() }
            // The client is joined after it has asked for that.
            if polls > 1 { try await joined.value() }
            return HTTPResponse(status: 200, body: Array(packets[polls - 1].utf8), url: request.url)
        }
    }

    private func scene(_ network: Network) throws -> Scene {
        try Scene {
            $0.transports = [.polling]
            $0.httpClient = network
        }
    }

    @Test("keeps the connection from opening", arguments: Page.all)
    func opening(_ page: Page) async throws {
        let scene = try scene(Network(page, intercepts: "GET"))
        let error = try await #require(throws: FeathersError.self) { try await scene.transport.connect() }
        #expect(error.code == .unavailable && error.execution == .neverSent)
        await scene.transport.disconnect()
    }

    @Test("does not accept a call", arguments: Page.all)
    func calling(_ page: Page) async throws {
        let network = Network(page)
        let scene = try scene(network)
        try await scene.transport.connect()
        network.intercept("POST")
        let create = ServiceRequest(path: "notes", method: .create, data: ["text": "a"])
        let error = try await #require(throws: FeathersError.self) { try await scene.transport.send(create) }
        #expect(error.code == .unavailable && error.execution == .mayHaveExecuted)
        await scene.transport.disconnect()
    }
}
