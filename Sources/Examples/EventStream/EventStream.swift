import Feathers
import Foundation

/// `EventStream <url> <port> <service> …` forwards the events of a Feathers server's services to HTTP clients.
@main
enum EventStream {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let url = arguments.first.flatMap(URL.init(string:)), url.host() != nil,
            let port = arguments.dropFirst().first.flatMap(UInt16.init)
        else {
            print("usage: EventStream <url of the Feathers server> <port, or 0 for any> <service> …")
            exit(64)
        }
        let app = FeathersApp(transport: .socketIO(url))
        app.recordMetrics()
        app.use(diagnostics: .standardError)
        let listener = try Listener(port: port)
        let server = EventStreamServer(app: app, paths: Set(arguments.dropFirst(2)))
        app.use(backgroundWork: { _ in await server.run(on: listener) })
        // Written immediately, even to a pipe.
        FileHandle.standardOutput.write(Data("http://127.0.0.1:\(listener.port)/health\n".utf8))
        try await app.run(until: [.terminate, .interrupt], shutDownWithin: .seconds(10))
    }
}
