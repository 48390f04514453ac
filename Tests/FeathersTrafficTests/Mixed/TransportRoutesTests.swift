import FeathersCore
import Testing

@testable import FeathersTraffic

@Suite("Routes of a mixed transport")
struct TransportRoutesTests {
    private static let routes = {
        var routes = TransportRoutes()
        routes["/reports/"] = .rest
        routes[.find] = .rest
        routes["reports", .create] = .realTime
        routes["messages", "archive"] = .rest
        return routes
    }()

    @Test(
        "The closest route counts",
        arguments: [
            ("reports", .get, .rest), ("reports", .create, .realTime), ("messages", .find, .rest),
            ("messages", .get, .realTime),
            ("messages", "archive", .rest), ("messages", "publish", .realTime),
        ] as [(String, ServiceMethod, TransportRoutes.Route)])
    func closest(path: String, method: ServiceMethod, way: TransportRoutes.Route) {
        #expect(Self.routes.route(of: ServiceRequest(path: path, method: method)) == way)
    }

    @Test("A route taken back leaves the wider one")
    func takenBack() {
        var routes = Self.routes
        routes["reports", .create] = nil
        #expect(routes.route(of: ServiceRequest(path: "reports", method: .create)) == .rest)
        routes["reports"] = nil
        #expect(routes.route(of: ServiceRequest(path: "reports", method: .create)) == .realTime)
        routes.standard = .rest
        #expect(routes.route(of: ServiceRequest(path: "reports", method: .create)) == .rest)
    }

    @Test(
        "What only reads may go another way, the rest where that is asked for",
        arguments: [
            (.find, .reads, true), (.get, .reads, true), (.create, .reads, false), ("search", .reads, false),
            (.find, .never, false),
            (.patch, .unsent, true),
        ] as [(ServiceMethod, TransportRoutes.Fallback, Bool)])
    func fallback(method: ServiceMethod, fallback: TransportRoutes.Fallback, permits: Bool) {
        var routes = TransportRoutes()
        routes.fallback = fallback
        #expect(routes.permitsFallback(ServiceRequest(path: "messages", method: method)) == permits)
    }
}
