import FeathersNetworking
import Foundation
import TestBackend
import Testing

/// What the proxy does to connections, seen by a client that knows nothing of it.
@Suite("The fault proxy", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct FaultProxyTests {
    let client = URLSessionHTTPClient()
    // More than a proxy takes in one go, so that a cut after what came leaves something out.
    static let size = 300_000

    @Test("forwards what it is given and counts it")
    func plain() async throws {
        let proxy = try await FaultProxy(to: TestBackend.url())
        #expect(try await body(proxy).count == Self.size)
        let counters = try await proxy.counters()
        #expect(counters.connections == 1)
        #expect(counters.toServer > 40)
        #expect(counters.toClient > Self.size)
        #expect(counters.faults.isEmpty)
        try await proxy.close()
    }

    @Test(
        "ends connections in every way, after bytes and after time",
        arguments: [Fault.Kind.cut, .reset, .truncate], [Fault.Moment.afterBytes(500...600), .afterMs(20...40)])
    func ends(kind: Fault.Kind, moment: Fault.Moment) async throws {
        let plan = FaultPlan {
            $0.toClient.faults = [Fault(kind, moment)]
            if case .afterMs = moment { $0.toClient.bytesPerSecond = 100_000 }
        }
        let proxy = try await FaultProxy(to: TestBackend.url(), plan: plan)
        let error = try await client.failure(request(proxy))
        // URLSession on Linux calls it a bad response when the end comes early enough.
        #expect(error.kind == .connectionLost || error.kind == .badResponse)
        #expect(error.delivery == .mayHaveExecuted)
        let counters = try await proxy.counters(open: 0, faults: 1)
        #expect(counters.faults[kind.rawValue] == 1)
        try await proxy.close()
    }

    @Test("ends connections when told to", arguments: [Fault.Kind.cut, .reset])
    func endsNow(kind: Fault.Kind) async throws {
        let proxy = try await FaultProxy(to: TestBackend.url())
        async let failure = client.failure(request(proxy, "slow/60000"))
        try await proxy.counters(toServer: 40)
        try await kind == .cut ? proxy.cut() : proxy.reset()
        #expect(try await failure.kind == .connectionLost)
        try await proxy.close()
    }

    @Test("is the same for the same seed")
    func seeds() async throws {
        let plan = FaultPlan { $0.toClient.faults = [Fault(.truncate, .afterBytes(0...10_000))] }
        var sizes: [Int] = []
        for seed: UInt64 in [7, 7, 8] {
            let proxy = try await FaultProxy(to: TestBackend.url(), plan: plan, seed: seed)
            _ = try await client.failure(request(proxy))
            sizes.append(try await proxy.counters(open: 0, faults: 1).toClient)
            try await proxy.close()
        }
        #expect(sizes[0] == sizes[1])
        #expect(sizes[0] != sizes[2])
    }

    @Test("stalls connections until they are resumed, and loses nothing")
    func stalls() async throws {
        let proxy = try await FaultProxy(to: TestBackend.url())
        try await proxy.stall(.toClient, new: true)
        let error = try await client.failure(request(proxy, timeout: .seconds(2)))
        #expect(error.kind == .timeout)
        async let body = body(proxy)
        try await proxy.counters(connections: 2, toServer: 80)
        #expect(try await proxy.counters().toClient == 0)
        try await proxy.resume()
        #expect(try await body.count == Self.size)
        try await proxy.close()
    }

    @Test("stalls connections for a time")
    func stallsForATime() async throws {
        let plan = FaultPlan { $0.toClient.faults = [Fault(.stall, .afterBytes(0...0), forMs: 100)] }
        let proxy = try await FaultProxy(to: TestBackend.url(), plan: plan)
        #expect(try await body(proxy).count == Self.size)
        #expect(try await proxy.counters().faults == ["stall": 1])
        try await proxy.close()
    }

    @Test("corrupts bytes, by plan and when told to")
    func corrupts() async throws {
        let clean = try await FaultProxy(to: TestBackend.url())
        let expected = try await body(clean)
        let plan = FaultPlan { $0.toClient.faults = [Fault(.corrupt, .afterBytes(140_000...140_000), repeats: true)] }
        let proxy = try await FaultProxy(to: TestBackend.url(), plan: plan)
        let corrupted = try await body(proxy)
        #expect(zip(corrupted, expected).count { $0 != $1 } == 2)
        try await proxy.change(FaultPlan())
        try await proxy.corrupt(.toServer)
        // Whatever the byte was, the server does not get the request that was made.
        #expect(try await outcome(proxy) != expected)
        #expect(try await proxy.counters().faults == ["corrupt": 3])
        try await proxy.close()
        try await clean.close()
    }

    @Test("refuses connections, and takes them again on the same port")
    func refuses() async throws {
        let proxy = try await FaultProxy(to: TestBackend.url())
        try await proxy.refuse()
        let error = try await client.failure(request(proxy))
        #expect(error.kind == .cannotConnect)
        #expect(error.delivery == .neverSent)
        try await proxy.accept()
        #expect(try await body(proxy).count == Self.size)
        try await proxy.close()
        #expect(try await client.failure(request(proxy)).delivery == .neverSent)
    }

    private func request(_ proxy: FaultProxy, _ path: String = "big/\(size - 2)", timeout: Duration = .seconds(20))
        -> HTTPRequest
    {
        HTTPRequest(url: proxy.url.appending(path: path), timeout: timeout)
    }

    private func body(_ proxy: FaultProxy) async throws -> [UInt8] {
        try await client.execute(request(proxy)).body
    }

    private func outcome(_ proxy: FaultProxy) async throws -> [UInt8]? {
        do {
            let response = try await client.execute(request(proxy, timeout: .seconds(2)))
            return response.status == 200 ? response.body : nil
        } catch is HTTPClientError {
            return nil
        }
    }
}
