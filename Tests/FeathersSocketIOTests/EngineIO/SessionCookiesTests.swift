import FeathersCore
import FeathersNetworking
import FeathersSupport
import Foundation
import Testing

@testable import FeathersSocketIO

@Suite("The cookies of a polling session", .timeLimit(.minutes(10)))
struct SessionCookiesTests {
    private let cookies = SessionCookies()
    private let url = URL(filePath: "/")

    private func take(_ fields: String...) {
        let headers = HTTPHeaders(received: fields.map { ("set-cookie", $0) })
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        cookies.take(from: HTTPResponse(status: 200, headers: headers, body: [], url: url), at: now)
    }

    /// The field of the next request.
    private func sent(with own: String? = nil) throws -> String? {
        var headers = HTTPHeaders()
        if let own { try headers.set("Cookie", to: own) }
        try cookies.add(to: &headers)
        return headers["cookie"]
    }

    @Test("are sent back as they came, the latest value of each, after the app's own")
    func latest() throws {
        #expect(try sent() == nil && sent(with: "own=1") == "own=1")
        take("AWSALB=a+/=; Expires=Thu, 01 Jan 2099 00:00:00 GMT; Path=/", "io=x; HttpOnly; SameSite=Lax")
        #expect(try sent() == "AWSALB=a+/=; io=x")
        take("AWSALB=b; Path=/")
        #expect(try sent(with: "own=1") == "own=1; io=x; AWSALB=b")
    }

    @Test(
        "end when the server says so",
        arguments: [
            "io=; Max-Age=0", "io=x; max-age=-1; Expires=Thu, 01 Jan 2099 00:00:00 GMT",
            "io=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "io=x; expires=Tuesday, 14-Nov-23 22:13:20 GMT",
        ])
    func ends(field: String) throws {
        take("io=x", "a=1")
        take(field)
        #expect(try sent() == "a=1")
    }

    @Test("are read from a field in which the client has joined several")
    func joined() throws {
        take("a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT; Path=/, b=2; Path=/,c=3")
        #expect(try sent() == "a=1; b=2; c=3")
    }

    @Test("are neither malformed nor without limit")
    func limits() throws {
        take("", "=x", "no pair", ";a=1", "a", "b=\u{1}", "c=" + String(repeating: "x", count: 5000))
        #expect(try sent() == nil)
        for number in 0..<200 { take("c\(number)=x") }
        #expect(try sent()?.split(separator: ";").count == 50)
        // Those that are known can still change.
        take("c3=y")
        #expect(try sent()?.contains("c3=y") == true)
    }

    /// Two servers behind a balancer that sends a session to the server that its cookie names.
    private final class Balancer: HTTPClient {
        private struct State {
            var cookies: [String?] = []
            /// The polls of the session after its first, and the promise that the client has joined the namespace.
            var polls = 0
            var joined = Promise<Void>()
        }

        private let state = Locked(State())

        var cookies: [String?] { state.withLock { $0.cookies } }

        func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
            let isFirst = !(request.url.query() ?? "").contains("sid=")
            let (number, polls, joined) = state.withLock { state in
                state.cookies.append(request.headers["Cookie"])
                if isFirst {
                    (state.polls, state.joined) = (0, Promise())
                } else if request.method == "GET" {
                    state.polls += 1
                }
                return (state.cookies.count, state.polls, state.joined)
            }
            let fields = HTTPHeaders(received: [("Set-Cookie", "AWSALB=\(number); Path=/")])
            func response(_ status: Int, _ body: String) -> HTTPResponse {
                HTTPResponse(status: status, headers: fields, body: Array(body.utf8), url: request.url)
            }
            guard isFirst || request.headers["Cookie"] != nil else {
                return response(400, #"{"code":1,"message":"Session ID unknown"}"#)
            }
            if request.method == "POST" {
                joined.resolve(())
                return response(200, "ok")
            }
            if isFirst {
                return response(
                    200, #"0{"sid":"e","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#)
            }
            guard polls == 1 else { return try await Promise<HTTPResponse>().value() }
            // The client is joined after it has asked for that.
            try await joined.value()
            return response(200, #"40{"sid":"s"}"#)
        }
    }

    private func scene(_ balancer: Balancer, keepsCookies: Bool) throws -> Scene {
        try Scene {
            $0.transports = [.polling]
            $0.httpClient = balancer
            $0.keepsCookies = keepsCookies
            $0.reconnection = .never
        }
    }

    @Test("keep a session on its server, and the next session begins without them")
    func sticky() async throws {
        let balancer = Balancer()
        let scene = try scene(balancer, keepsCookies: true)
        try await scene.transport.connect()
        await scene.transport.disconnect()
        #expect(balancer.cookies.first == .some(nil))
        #expect(balancer.cookies.dropFirst().allSatisfy { $0?.hasPrefix("AWSALB=") == true })
        let before = balancer.cookies.count
        try await scene.transport.connect()
        await scene.transport.disconnect()
        #expect(balancer.cookies[before] == nil)
    }

    @Test("are not sent unless the options say so")
    func off() async throws {
        let balancer = Balancer()
        let scene = try scene(balancer, keepsCookies: false)
        await #expect(throws: (any Error).self) { try await scene.transport.connect() }
        await scene.transport.disconnect()
        #expect(balancer.cookies.allSatisfy { $0 == nil })
    }
}
