import ExampleProgram
import Feathers
import Foundation

/// `EventStream URL PORT SERVICE …` forwards the events of a Feathers server's services to HTTP clients.
@main
enum EventStream {
    static let usage = """
        Usage: EventStream URL PORT SERVICE …

        Forwards the events of a server's services to HTTP clients: /events/SERVICE, /health and /metrics. While the
        server cannot be reached, it tries again, and /health says so. Press Ctrl-C to stop.

          URL      a FeathersJS server, like http://localhost:3030
          PORT     the port on this machine to listen on; 0 for any
          SERVICE  a service whose events are public
        """

    static func main() async {
        await ExampleProgram.run(usage: usage) { arguments in
            let url = try ExampleProgram.server(arguments.first, or: usage)
            guard let port = arguments.dropFirst().first.flatMap(UInt16.init) else { throw ProgramError.usage(usage) }
            let app = FeathersApp(transport: .socketIO(url))
            app.recordMetrics()
            app.use(diagnostics: .standardError)
            let listener: Listener
            do {
                listener = try Listener(port: port)
            } catch let error as POSIXError {
                throw ProgramError("Cannot listen on port \(port): \(String(cString: strerror(error.code.rawValue))).")
            }
            let server = EventStreamServer(app: app, paths: Set(arguments.dropFirst(2)))
            app.use(backgroundWork: { _ in
                ExampleProgram.write("http://127.0.0.1:\(listener.port)/health\n")
                await server.run(on: listener)
            })
            try await app.run(until: [.terminate, .interrupt], shutDownWithin: .seconds(10))
        }
    }
}
