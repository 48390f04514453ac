import Feathers
import Foundation

/// Queues writes and shows them in a live query until it is killed, or its parent is gone: `LocalWriter FOLDER LOG
/// SERVER PARENT`. With `read` alone, reads prepared stores instead; see ``LocalReader``.
///
/// The server is in the same process, is out of reach now and then, and keeps its records in the file SERVER. A line of
/// LOG is `ready`, `queued ID NUMBER` for each accepted write, or `shown MILLISECONDS ID=NUMBER …` for each snapshot.
/// The numbers of one record grow.
@main
struct LocalWriter {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.dropFirst() == ["read"] { return await LocalReader.run() }
        guard arguments.count == 5, let parent = pid_t(arguments[4]) else { exit(64) }
        let log = LineFile(arguments[2])
        let server = try FileServer(arguments[3])
        var store = LocalStore.directory(URL(filePath: arguments[1], directoryHint: .isDirectory))
        store.writeDelay = .milliseconds(50)
        let app = FeathersApp(transport: server)
        try await app.use(localStore: store) { options in
            options.isKeyed = true
            options.keyPlaces = [.recordID(), .header()]
            options.retry = OutboxRetry(initialDelay: .milliseconds(5), maximumDelay: .milliseconds(20))
        }
        log.add("ready")
        print("ready")
        try await withFeathersApp(app) { app in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while getppid() == parent { try await Task.sleep(for: .milliseconds(100)) }
                    exit(1)
                }
                group.addTask {
                    for try await snapshot in app.service("records").live(.sorted(by: "id")).snapshots {
                        let time = Int(Date().timeIntervalSince1970 * 1000)
                        let marks = snapshot.records.map { "\($0["id"]?.string ?? "")=\($0["n"]?.integer ?? 0)" }
                        log.add("shown \(time) \(marks.joined(separator: " "))")
                    }
                }
                group.addTask { try await write(app.service("records").outbox, await server.ids, log) }
                try await group.waitForAll()
            }
        }
    }

    private static func write(_ outbox: OutboxCalls<JSONValue>, _ known: [String], _ log: LineFile) async throws {
        var ids = known
        while true {
            let number = Int64(Date().timeIntervalSince1970 * 1_000_000)
            let queued =
                if ids.count < 30 {
                    try await outbox.create(["n": .integer(number)])
                } else {
                    try await outbox.patch(ids[Int.random(in: ids.indices)], with: ["n": .integer(number)])
                }
            let id = queued.write.recordID?.description ?? queued.write.data?["id"]?.string ?? ""
            if !ids.contains(id) { ids.append(id) }
            log.add("queued \(id) \(number)")
            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<10)))
        }
    }
}

/// A file of lines, each of which is written at once.
final class LineFile: Sendable {
    private let descriptor: Int32

    init(_ path: String) { descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600) }

    func add(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Foundation.write(descriptor, bytes, bytes.count)
    }
}

/// A server that keeps its records in a file, and can be reached most of the time.
actor FileServer: Transport {
    private var records: [String: JSONObject] = [:]
    private let file: LineFile

    init(_ path: String) throws {
        if let text = try? String(contentsOfFile: path, encoding: .utf8) {
            for line in text.split(separator: "\n") {
                guard let record = try? JSONValue(parsing: Array(line.utf8)).object, let id = record["id"]?.string
                else { continue }
                records[id] = record
            }
        }
        // A line for each record, however many there were: reading them must not take longer after each kill.
        var lines = Data()
        for record in records.values { lines += try JSONValue.object(record).serialized() + [UInt8(ascii: "\n")] }
        try lines.write(to: URL(filePath: path), options: .atomic)
        file = LineFile(path)
    }

    var ids: [String] { Array(records.keys) }

    func send(_ request: ServiceRequest) async throws -> ServiceResponse {
        if Int.random(in: 0..<3) == 0 { throw FeathersError(.unavailable, "Away", execution: .neverSent) }
        if request.method == .find {
            return ServiceResponse(.array(records.sorted { $0.key < $1.key }.map { .object($0.value) }))
        }
        guard let id = request.id?.description ?? request.data?["id"]?.string else {
            throw FeathersError(.badRequest, "No id")
        }
        if request.method == .get, let record = records[id] { return ServiceResponse(.object(record)) }
        if request.method == .create, records[id] != nil { throw FeathersError(.conflict, "The id is taken") }
        var record = records[id] ?? ["id": .string(id)]
        record["n"] = request.data?["n"]
        records[id] = record
        if let bytes = try? JSONValue.object(record).serialized() { file.add(String(decoding: bytes, as: UTF8.self)) }
        return ServiceResponse(.object(record))
    }
}
