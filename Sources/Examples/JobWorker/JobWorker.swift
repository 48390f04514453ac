import ExampleProgram
import Feathers
import Foundation

/// `JobWorker URL SERVICE QUEUE` processes jobs from a Feathers service.
@main
enum JobWorker {
    static let usage = """
        Usage: JobWorker URL SERVICE QUEUE

        Processes jobs from a queue that it shares with other workers. Press Ctrl-C to stop after the current job.

          URL      a FeathersJS server, like http://localhost:3030
          SERVICE  the service that stores the jobs
          QUEUE    the name of the queue

        A job has a queue, a text and the state 'open'. One that cannot be read or processed gets the state 'failed' and
        a reason, and the others go on. A worker has a job for 30 seconds and renews that while it works; the job of a
        worker that was killed is taken up by another, so each job is done at least once.
        """

    static func main() async {
        await ExampleProgram.run(usage: usage) { arguments in
            guard arguments.count == 3 else { throw ProgramError.usage(usage) }
            let app = FeathersApp(transport: .socketIO(try ExampleProgram.server(arguments[0], or: usage)))
            app.use(diagnostics: .standardError)
            let name = "\(ProcessInfo.processInfo.hostName)-\(ProcessInfo.processInfo.processIdentifier)"
            let worker = Worker(
                name, jobs: app.service(arguments[1], of: Job.self), queue: arguments[2],
                report: { ExampleProgram.write(ExampleProgram.styled(ExampleProgram.printable($0), .red) + "\n") },
                work: { ExampleProgram.write("\($0.id ?? 0): \(ExampleProgram.printable($0.text))\n") })
            let signals = ProcessSignal.received()
            async let _: Void = { for await _ in signals { worker.stop() } }()
            try await withFeathersApp(app) { app in
                // Fails immediately if there is no server. Later, a lost connection is restored.
                try await app.connect()
                let queue = ExampleProgram.printable(arguments[2])
                ExampleProgram.write("Waiting for jobs in '\(queue)'. Press Ctrl-C to stop.\n")
                // The work ends first, because the worker reports its outcome to the server. Then the connection ends.
                try await worker.run()
                await app.shutDown(within: .seconds(10))
            }
        }
    }
}
