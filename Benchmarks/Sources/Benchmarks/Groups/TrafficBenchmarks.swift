import Feathers
import Foundation

/// The cost of limiting and sharing calls without contention, and of choosing between two transports.
enum TrafficBenchmarks {
    /// Returns immediately, so that only the call itself is measured.
    private struct TrivialTransport: Transport {
        func send(_ request: ServiceRequest) async throws -> ServiceResponse {
            ServiceResponse(["id": request.id?.json ?? .null])
        }
    }

    private static func service(_ transport: any Transport = TrivialTransport(), hooks: Hooks = Hooks()) -> Service<
        JSONValue
    > {
        let app = FeathersApp(transport: transport)
        app.use(hooks: hooks)
        return app.service("messages")
    }

    static func group() throws -> BenchmarkGroup {
        var group = BenchmarkGroup("traffic: get over a transport")
        guard let url = URL(string: "http://localhost:3030") else { throw URLError(.badURL) }
        // Never connected, so that calls use REST.
        let mixed = MixedTransport.mixed(realTime: .socketIO(url), rest: TrivialTransport())
        let services: [(String, Service<JSONValue>)] = [
            ("nothing", service()),
            ("a limit that isn't reached", service(hooks: .limiting(to: 8))),
            ("shared reads", service(hooks: .coalescingReads())),
            ("retries", service(hooks: .retrying())),
            ("a mixed transport, over REST", service(mixed)),
        ]
        for (name, service) in services {
            group.add(name, operations: 100_000, comparedWith: name == "nothing" ? nil : "nothing") {
                for _ in 0..<100_000 { _ = try await service.get(1) }
            }
        }
        return group
    }
}
