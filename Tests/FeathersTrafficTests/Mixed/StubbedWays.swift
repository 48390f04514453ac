import Feathers
import FeathersTesting

/// A mixed transport whose two ways are stubs.
struct StubbedWays: Sendable {
    let socket = StubRealTimeTransport()
    let rest = StubTransport()
    let app: FeathersApp

    init(clock: any Clock<Duration> = ContinuousClock(), _ configure: (inout TransportRoutes) -> Void = { _ in }) {
        var routes = TransportRoutes()
        configure(&routes)
        app = FeathersApp(transport: MixedTransport(realTime: socket, rest: rest, routes: routes, clock: clock))
        for method in ServiceMethod.standard {
            socket.stub(method, with: .value("socket"))
            rest.stub(method, with: .value("rest"))
        }
    }

    /// Answers sign-ins on both ways with the token that they bring, or a new one.
    func signsIn() {
        let stub = ServiceStub { request in
            guard request.method == .create else { return .null }
            return ["accessToken": request.data?["accessToken"] ?? "token", "user": ["id": 1]]
        }
        socket.stub("authentication", with: stub)
        rest.stub("authentication", with: stub)
    }
}
