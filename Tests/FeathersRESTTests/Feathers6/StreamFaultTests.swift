import FeathersCore
import FeathersNetworking
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersREST

@Suite("Streams through a network that fails", .inTurn, .enabled(if: !TestBackend.isSkipped), .timeLimit(.minutes(10)))
struct StreamFaultTests {
    private func transport(_ url: URL, _ client: any HTTPClient) -> Feathers6Transport {
        .feathers6(url.appending(path: "v6")) {
            $0.httpClient = client
            $0.reconnection = ReconnectionPolicy(initialDelay: .milliseconds(10), maximumDelay: .milliseconds(50))
        }
    }

    private static let clients: [StreamedResultTests.Client] = StreamedResultTests.Client.all

    /// Over the platform's client alone: Foundation on Linux ends the process if a head is cut.
    @Test("A streamed result is complete, or throws")
    func results() async throws {
        let plan = FaultPlan {
            $0.toClient.splitBytes = 1...700
            $0.toClient.faults = [Fault(.truncate, .afterBytes(0...60_000))]
        }
        let proxy = try await FaultProxy(to: TestBackend.url(), plan: plan)
        let app = FeathersApp(transport: transport(proxy.url, PlatformHTTPClient.make()))
        var (complete, cut) = (0, 0)
        for _ in 0..<30 {
            var items: [JSONValue] = []
            do {
                for try await item in app.service("streams").stream(.find, query: ["count": 1500]) {
                    items.append(item)
                }
                complete += 1
                #expect(items.count == 1500)
            } catch {
                cut += 1
                #expect(error is FeathersError)
            }
            #expect(items == (0..<items.count).map { ["n": .integer(Int64($0))] })
        }
        #expect(complete + cut == 30)
        #expect(cut > 0)
        try await proxy.close()
    }

    @Test("Events come back after every cut, with a gap, each at most once", arguments: clients)
    func events(_ client: StreamedResultTests.Client) async throws {
        let backend = TestBackend(variables: [:])
        let url = try await backend.url()
        let control = FeathersApp(transport: .rest(url)).service("control")
        func emit(_ number: Int) async throws {
            try await control.create([
                "op": "emit", "service": "messages", "event": "created", "data": ["n": .integer(Int64(number))],
            ])
        }
        let proxy = try await FaultProxy(to: url, plan: FaultPlan { $0.toClient.splitBytes = 1...20 })
        let app = FeathersApp(transport: transport(proxy.url, client.make()))
        try await withFeathersApp(app) { app in
            var deliveries = app.service("messages").eventDeliveries().makeAsyncIterator()
            var statuses = app.connectionStatusUpdates().makeAsyncIterator()
            while let status = await statuses.next(), status != .connected(recovered: false) {}
            for number in 0..<12 {
                try await emit(number)
                guard case .event(let event)? = await deliveries.next() else {
                    Issue.record("no event \(number)")
                    return
                }
                #expect(event.data["n"] == .integer(Int64(number)))
                if number.isMultiple(of: 2) {
                    try await proxy.cut()
                } else {
                    try await control.create(["op": "streams", "do": "end"])
                }
                guard case .gap(let gap)? = await deliveries.next(), case .reconnected = gap.reason else {
                    Issue.record("no gap after \(number)")
                    return
                }
                while let status = await statuses.next(), status != .connected(recovered: false) {}
            }
        }
        try await proxy.close()
    }

    @Test("Against a version 5 server, connecting says at once what is wrong")
    func version5() async throws {
        let app = FeathersApp(transport: .feathers6(try await TestBackend.url()))
        await #expect { try await app.connect() } throws: { error in
            "\(error)".contains("is a FeathersJS 5 server, which sends events over Socket.IO")
                && FeathersError.Code.notFound ~= error
        }
        // Its calls work.
        #expect(try await app.service("echo").get(1)["method"] == "get")
    }
}
