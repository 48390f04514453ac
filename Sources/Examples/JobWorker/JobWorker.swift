import Feathers
import Foundation

/// `JobWorker <url> <service> <queue>` processes jobs from a Feathers service.
@main
enum JobWorker {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 3, let url = URL(string: arguments[0]), url.host() != nil else {
            print("usage: JobWorker <url of the Feathers server> <service> <queue>")
            exit(64)
        }
        let app = FeathersApp(transport: .socketIO(url))
        app.use(diagnostics: .standardError)
        let name = "\(ProcessInfo.processInfo.hostName)-\(ProcessInfo.processInfo.processIdentifier)"
        let worker = Worker(name, jobs: app.service(arguments[1], of: Job.self), queue: arguments[2]) { job in
            print("\(job.id ?? 0): \(job.text)")
        }
        let signals = ProcessSignal.received()
        async let _: Void = { for await _ in signals { worker.stop() } }()
        try await withFeathersApp(app) { app in
            // First the work ends, which says so to the server; then the connection.
            try await worker.run()
            await app.shutDown(within: .seconds(10))
        }
    }
}
