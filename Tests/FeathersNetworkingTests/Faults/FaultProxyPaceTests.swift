import FeathersNetworking
import Foundation
import TestBackend
import Testing

@Suite("The pace of a fault proxy", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct FaultProxyPaceTests {
    static let paces: [(String, Duration, FaultPlan)] = [
        ("delayed", .milliseconds(100), FaultPlan { $0.toClient.delayMs = 100...120 }),
        ("split", .zero, FaultPlan { $0.toClient.splitBytes = 1...9 }),
        ("merged", .milliseconds(100), FaultPlan { $0.toClient.mergeMs = 100 }),
        ("slow", .milliseconds(100), FaultPlan { $0.toClient.bytesPerSecond = 50_000 }),
        (
            "all of it", .milliseconds(40),
            FaultPlan {
                $0.toServer.splitBytes = 1...3
                $0.toClient.delayMs = 0...1
                $0.toClient.mergeMs = 40
                $0.toClient.splitBytes = 50...900
            }
        ),
    ]

    @Test("changes when bytes come and never which", arguments: paces.indices)
    func pace(index: Int) async throws {
        let (name, least, plan) = Self.paces[index]
        let server = try await TestBackend.url()
        let client = URLSessionHTTPClient()
        let proxy = try await FaultProxy(to: server, plan: plan, receiveBuffer: 4096)
        let clock = ContinuousClock()
        let start = clock.now
        let body = try await client.execute(
            HTTPRequest(url: proxy.url.appending(path: "big/9000"), timeout: .seconds(20))
        ).body
        #expect(clock.now - start >= least, "\(name)")
        #expect(try await client.execute(HTTPRequest(url: server.appending(path: "big/9000"))).body == body, "\(name)")
        try await proxy.close()
    }

    @Test("ends where the server's connection does")
    func ends() async throws {
        let script = try await ServerScript(ScriptedResponse(body: "0123456789").with { $0.closeAfterBytes = 4 })
        let proxy = try await FaultProxy(to: script.url)
        let error = try await URLSessionHTTPClient().failure(HTTPRequest(url: proxy.url, timeout: .seconds(20)))
        #expect(error.kind == .connectionLost)
        try await proxy.counters(open: 0)
        try await proxy.close()
    }

    @Test("speaks TLS where it is told to")
    func secure() async throws {
        let proxy = try await FaultProxy(to: TestBackend.url(), isSecure: true)
        let request = HTTPRequest(url: proxy.url.appending(path: "echo"), timeout: .seconds(20))
        // Nobody trusts its certificate who was not told to.
        #expect(try await URLSessionHTTPClient().failure(request).kind == .tls)
        #if os(Linux)
            let certificate = try await TestBackend.secureScriptServer().certificate
            let client = try CurlHTTPClient(tls: TLSConfiguration(trust: .certificates(in: certificate)))
            #expect(try await client.execute(request).status == 200)
        #endif
        try await proxy.close()
    }
}
