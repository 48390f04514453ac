import FeathersCore
import FeathersREST
import FeathersSupport
import FeathersTraffic
import Foundation

@testable import FeathersTesting

/// The ways to a model server.
enum Way: String, Sendable, CaseIterable {
    case rest, socket, mixed, feathers6

    /// Whether calls wait while there is no connection.
    var callsNeedConnection: Bool { self == .socket || self == .mixed }
}

/// The transport of one app to a model server, with its connection where it has one.
struct ModelLine: Sendable {
    let transport: any Transport
    /// The connection; nil over REST and FeathersJS 6.
    let connection: StubRealTimeTransport?

    init(to server: ModelServer, _ way: Way) {
        guard way != .feathers6 else {
            let arrayLimit = server.state.current.web?.arrayLimit
            let streams = Feathers6Transport.feathers6(URL(string: "http://model.test")!) {
                $0.httpClient = ModelStreams(of: server)
                if let arrayLimit { $0.queryOptions = QueryStringOptions(arrayLimit: arrayLimit, pairLimit: 2000) }
                $0.reconnection = ReconnectionPolicy(initialDelay: .milliseconds(1), maximumDelay: .milliseconds(5))
            }
            (transport, connection) = (streams, nil)
            return
        }
        let web = server.state.current.web
        let http: any Transport =
            web?.transport(to: URL(string: "http://model.test")!, ModelStreams(of: server))
            ?? StubTransport { request in
                if server.state.current.isAway {
                    throw FeathersError(.unavailable, "The server cannot be reached", execution: .neverSent)
                }
                let (result, hold) = server.answer(request, from: .http)
                try await hold?.value()
                return try result.get()
            }
        guard way != .rest else {
            (transport, connection) = (http, nil)
            return
        }
        let connection = StubRealTimeTransport(pushesEvents: false)
        let number = server.state.update { state in
            let number = state.lines.count + 1
            state.lines[number] = ModelServer.Line(transport: connection)
            return number
        }
        let line = connection.connection.line
        connection.stub(
            where: { _ in true },
            // Executed in the moment it arrives, over the connection there is then.
            with: ServiceStub(taking: { request in
                // A request whose connection has just been lost does not arrive.
                guard let link = line.current.link else {
                    return { throw FeathersError(.unavailable, "Lost", execution: .mayHaveExecuted) }
                }
                let (result, hold) = server.answer(request, from: .line(number, link: link))
                return {
                    try await hold?.value()
                    return try result.get()
                }
            }))
        self.connection = connection
        transport = way == .socket ? connection : .mixed(realTime: connection, rest: http)
    }
}
