import Feathers
import Foundation
import Gateway
import Hummingbird
import Logging
import ServiceLifecycle

/// `GatewayServer http://localhost:3030 8080` serves messages and their events from a
/// FeathersJS server.
@main
enum GatewayServer {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.count == 2, let url = URL(string: arguments[1]),
            let port = Int(arguments[2])
        else {
            print("Usage: GatewayServer URL PORT")
            exit(64)
        }
        // Events arrive over the connection. Calls go over REST, because they carry their
        // own user's token.
        let app = FeathersApp(
            transport: .mixed(realTime: .socketIO(url), rest: .rest(url)) {
                $0.standard = .rest
            })
        let logger = Logger(label: "gateway")
        let gateway = try Gateway(app: app, publicEvents: ["messages"], logger: logger)
        let server = gateway.application(.init(address: .hostname("0.0.0.0", port: port)))
        var group = ServiceGroupConfiguration(
            services: [server, Departure(app: app, notice: .seconds(5))],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger)
        // A browser that reads no events must not keep the process alive.
        group.maximumGracefulShutdownDuration = .seconds(30)
        try await ServiceGroup(configuration: group).run()
    }
}
