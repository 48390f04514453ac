import Feathers
import Foundation

/// Writes into an outbox and sends from it until it is killed, or its parent is gone:
/// `OutboxWriter OUTBOX ACKNOWLEDGED URL rest|socketio|unkeyed|offline GENERATION PARENT`; `unkeyed` is REST with a
/// server that knows no keys, `offline` one that does not exist. Without a generation, `-`, it only sends, and ends
/// when the outbox is empty.
///
/// It says `ready` when the outbox is open. Each write that was accepted is a line of the file ACKNOWLEDGED: its key,
/// its record and its number. The numbers of one record grow, from one write to the next and from one generation to the
/// next. Without keys `UNKNOWN` and the key stand there for a write that was given up, since nobody knew whether it was
/// executed.
@main
struct OutboxWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 7, let url = URL(string: arguments[3]), let parent = pid_t(arguments[6]) else {
            exit(64)
        }
        let acknowledged = open(arguments[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let (isREST, isKeyed) = (arguments[4] != "socketio", arguments[4] != "unkeyed")
        let outbox = try await Outbox(file: URL(filePath: arguments[1])) { options in
            options.isKeyed = isKeyed
            options.keyPlaces = isREST ? [.header()] : [.query("idempotencyKey")]
            options.attemptTimeout = .seconds(2)
            // Each write counts by itself.
            options.squashesPatches = false
            options.retry = OutboxRetry(initialDelay: .milliseconds(10), maximumDelay: .milliseconds(100))
            options.decide = { failure in
                // Nothing is ever refused here: the parent can not read this, and fails.
                guard !isKeyed, failure.reason == .unknown else {
                    write("FAILED \(failure.reason) \(failure.error)\n", to: acknowledged)
                    return nil
                }
                write("UNKNOWN \(failure.write.key.uuidString.lowercased())\n", to: acknowledged)
                return .discard
            }
        }
        let transport: any Transport = if isREST { .rest(url) } else { socketIO(url) }
        let app = FeathersApp(transport: transport)
        // The ledger's records have no ids of their own.
        app.servicesWithOtherResponses = ["ledger"]
        try app.use(outbox: outbox)
        write("ready\n", to: 1)
        try await withFeathersApp(app) { app in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while getppid() == parent { try await Task.sleep(for: .milliseconds(100)) }
                    exit(1)
                }
                if let generation = Int64(arguments[5]) {
                    let waits = arguments[4] != "offline"
                    for writer in 0..<3 {
                        group.addTask {
                            do {
                                try await enqueue(app, writer, generation, acknowledged, waits: waits)
                            } catch {
                                // The other tasks go on, so that an error of the group would come too late.
                                write("\(error)\n", to: 2)
                                exit(1)
                            }
                        }
                    }
                } else {
                    for await state in outbox.stateUpdates() where state.entries.isEmpty { exit(0) }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Hands in writes one after the other to records that are this writer's alone.
    private static func enqueue(
        _ app: FeathersApp, _ writer: Int, _ generation: Int64, _ acknowledged: Int32, waits: Bool
    )
        async throws
    {
        let ledger = app.service("ledger")
        for number in (generation * 1_000_000)... {
            let record = "\(writer)-\(Int.random(in: 0..<3))"
            let queued =
                if number % 4 == 0 {
                    try await ledger.outbox.create(["record": .string("\(record)-\(number)"), "n": .integer(number)])
                } else {
                    try await ledger.outbox.patch(record, with: ["n": .integer(number)])
                }
            let name = queued.write.method == .create ? "\(record)-\(number)" : record
            write("\(queued.write.key.uuidString.lowercased()) \(name) \(number)\n", to: acknowledged)
            // Now and then it waits for the server, so that the outbox does not only grow.
            if waits, Int.random(in: 0..<4) == 0 { _ = try? await queued.result() }
        }
    }

    private static func socketIO(_ url: URL) -> any Transport {
        SocketIOTransport.socketIO(url) { options in
            options.transports = [.webSocket]
            options.reconnection.initialDelay = .milliseconds(10)
            options.reconnection.maximumDelay = .milliseconds(100)
        }
    }

    private static func write(_ line: String, to descriptor: Int32) {
        let bytes = Array(line.utf8)
        _ = Foundation.write(descriptor, bytes, bytes.count)
    }
}
