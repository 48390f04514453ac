import FeathersCore
import FeathersSupport
import Foundation
import Testing

@testable import FeathersSync
@testable import FeathersTesting

/// A random history of an app that shows messages with everything that is related to them. At rest, it shows the graph
/// that plain `find`s of the server result in.
///
/// Confined to the task that runs it.
final class RelationHistory {
    /// What a row shows.
    struct Shown: Equatable, Sendable, CustomStringConvertible {
        let text: String
        let author: String?
        let team: String?
        let reactions: [String]
        let readers: [String]

        var description: String { "\(text) \(author ?? "nil") \(team ?? "nil") \(reactions) \(readers)" }
    }

    /// What the reader of the live query has read.
    private struct Read: Sendable {
        var snapshot: LiveSnapshot<Message>?
        var failure: String?
        /// Whether the history has waited too long.
        var isLate = false
    }

    private static let reactions = Message.relation(
        toMany: Reaction.self, at: "reactions", by: .messageID, .sorted(by: "emoji"))

    private var random: SeededGenerator
    private let server: RelationHistoryServer
    private let folder: OutboxFolder
    /// Whether a hook of the app restricts the queries to what the user may see.
    private let hasHook: Bool
    private var user = "ada"
    private var app: FeathersApp
    private var transport: StubRealTimeTransport
    private var read = ObservedState(Read())
    private var tasks: [Task<Void, any Error>] = []
    private var mark = 0
    /// Whether what the server can replay is meant for the present user.
    private var canRecover = true
    private(set) var counts: [String: Int] = [:]
    private(set) var log: [String] = []

    init(seed: UInt64) async throws {
        random = SeededGenerator(seed: seed)
        server = RelationHistoryServer(page: [nil, 2, 3, 10].randomElement(using: &random) ?? nil)
        hasHook = Int.random(in: 0..<3, using: &random) == 0
        folder = try OutboxFolder()
        (app, transport) = (FeathersApp(), StubRealTimeTransport())
        for path in RelationHistoryServer.paths {
            for id in 1...4 { try server.change(.create, path, Int64(id), data(path), as: user) }
        }
        try await start(isOnline: true)
    }

    /// Starts a process.
    private func start(isOnline: Bool) async throws {
        let server = server
        // A connection carries no header fields. What arrives for a user who has left is not shown to the next one.
        let client = Locked<@Sendable () -> String>({ "" })
        server.loseEvents()
        let line = Locked<@Sendable () -> StubRealTimeTransport?>({ nil })
        // The server sends the events, in the order of its changes: that of a response before or after it.
        transport = StubRealTimeTransport(
            passingThrough: StubTransport { request in
                let client = client.withLock { $0 }
                let result = try server.respond(to: request, as: client())
                if Bool.random(), let line = line.withLock({ $0 })() { server.sendEvents(over: line, as: client) }
                return result
            }, pushesEvents: false)
        line.withLock { $0 = { [weak transport] in transport } }
        if !isOnline { transport.drop() }
        app = FeathersApp(transport: transport)
        client.withLock { $0 = { [weak app] in app?.identity?.name ?? "" } }
        app.setIdentity(Identity(user))
        for path in RelationHistoryServer.paths {
            await app.service(path).use(
                hooks: Hooks(before: [
                    "find": [
                        { [weak app, hasHook] context in
                            guard hasHook, let user = app?.identity?.name else { return }
                            context.params.query.json["for"] = ["$in": [.string(user), .null]]
                        }
                    ]
                ]))
        }
        var store = LocalStore.directory(folder.url.appending(path: "store", directoryHint: .isDirectory))
        store.responseDelay = .seconds(3600)
        store.writeDelay = .zero
        try await app.use(localStore: store) { $0.retry = OutboxRetry(initialDelay: .zero, maximumDelay: .zero) }
        let (clock, read) = (ManualClock(), ObservedState(Read()))
        self.read = read
        let live = app.service("messages", of: Message.self).live(.sorted(by: "id")).measured(by: clock).including(
            Message.author.including(User.team), Self.reactions.including(Reaction.by), Message.readers)
        tasks = [
            Task { [app] in try await app.run() },
            Task {
                do {
                    for try await snapshot in live.snapshots { read.update { $0.snapshot = snapshot } }
                } catch is CancellationError {
                } catch {
                    read.update { $0.failure = "the query ends with \(error)" }
                }
            },
            Task {
                while true {
                    try await clock.waitForSleepers(1)
                    clock.advance(by: .seconds(60))
                }
            },
        ]
    }

    /// Ends the process.
    private func stop() async {
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        await app.outbox?.close()
    }

    /// - Returns: What is wrong at the end; nil if nothing is.
    func run(steps: Int) async throws -> String? {
        for _ in 0..<steps {
            let step = Int.random(in: 0..<40, using: &random)
            switch step {
            case 0..<16: try foreignChange()
            case 16..<28: try await queue()
            case 28..<31:
                note("cut")
                transport.drop()
            case 31..<34:
                note("restore")
                transport.restore(recovered: canRecover && Bool.random(using: &random))
            case 34..<36: changeUser()
            case 36: try await restart()
            default: if let failure = try await rest() { return failure }
            }
        }
        let failure = try await rest()
        await stop()
        return failure ?? server.leaks.withLock { $0.first }.map { "a provisional id was sent: \($0)" }
    }

    private func note(_ text: String) {
        log.append(text)
        counts[String(text.prefix { $0 != " " }), default: 0] += 1
    }

    private func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &random) }

    // MARK: Changes

    /// Returns the properties of a record. Some refer to records that do not exist, or that the user may not see.
    private func data(_ path: String) -> JSONObject {
        mark += 1
        func id() -> JSONValue { .integer(.random(in: 1...6, using: &random)) }
        var data: JSONObject =
            switch path {
            case "messages":
                [
                    "text": .string("m\(mark)"), "authorID": id(),
                    "readers": .array(Bool.random(using: &random) ? [id(), 0] : []),
                ]
            case "users": ["name": .string("u\(mark)"), "teamID": id()]
            case "teams": ["title": .string("t\(mark)")]
            default: ["messageID": id(), "userID": id(), "emoji": .string(pick(["a", "b", "c"]) ?? "a")]
            }
        if let owner = pick([nil, nil, nil, "ada", "bob"]), let owner { data["for"] = .string(owner) }
        return data
    }

    /// Returns some of the properties of a record, but not who may see it.
    private func changes(_ path: String) -> JSONObject {
        var data = data(path)
        data["for"] = nil
        if let name = pick(data.keys.sorted()), Bool.random(using: &random) { data[name] = nil }
        return data
    }

    private func foreignChange() throws {
        guard let path = pick(RelationHistoryServer.paths) else { return }
        let target = pick(server.ids(path, as: user))
        let method = target == nil ? .create : pick([.create, .patch, .patch, .patch, .remove]) ?? ServiceMethod.patch
        // The records that are missing are created too.
        let missing = (Int64(1)...6).first { !server.has(path, $0) }
        let id = method == .create ? missing : target
        let data = method == .create ? data(path) : method == .patch ? changes(path) : [:]
        let record = try server.change(method, path, id, data, as: user)
        note("\(method) \(path) \(record)")
        server.sendEvents(over: transport) { user }
    }

    private func queue() async throws {
        guard let path = pick(["messages", "users", "reactions", "reactions"]) else { return }
        // No one touches the rows of the previous user.
        let snapshot = read.current.snapshot.flatMap { $0.identity == Identity(user) ? $0 : nil }
        let rows = snapshot.map(Array.init) ?? []
        let row = pick(rows)
        let service = app.service(path).outbox
        // The models need all properties.
        var data = data(path)
        data["for"] = nil
        let queuedUser = app.outbox?.state.entries.first { $0.write.path == "users" && $0.write.method == .create }
        switch (path, Int.random(in: 0..<4, using: &random), row) {
        case ("reactions", 0...1, let row?):
            data["messageID"] = .integer(Int64(row.record.id))
            note("queue reaction to \(row.record.id)")
            try await service.create(.object(data))
        case ("reactions", 2, let row?):
            guard let reaction = pick(row[Self.reactions]), reaction.record.id > 0 else { return }
            note("queue move of reaction \(reaction.record.id)")
            try await service.patch(Int64(reaction.record.id), with: .object(data))
        case ("users", 0...1, let row?):
            guard let author = row[Message.author], author.record.id > 0 else { return }
            note("queue user \(author.record.id)")
            try await service.patch(Int64(author.record.id), with: .object(data))
        case ("messages", 0, let row?) where row.record.id > 0:
            note("queue removal of message \(row.record.id)")
            try await service.remove(Int64(row.record.id))
        default:
            if path == "messages", let queuedUser {
                data["authorID"] = .provisionalNumber(for: queuedUser.write.provisionalKey())
            }
            note("queue new \(path) \(JSONValue.object(data))")
            try await service.create(.object(data))
        }
    }

    private func changeUser() {
        user = user == "ada" ? "bob" : "ada"
        canRecover = false
        note("user \(user)")
        app.setIdentity(Identity(user))
        // An empty result is not shown again.
        read.update { if $0.snapshot?.isEmpty == false { $0.snapshot = nil } }
    }

    /// Ends the process, and starts one without a server, which shows what is on this device.
    private func restart() async throws {
        note("restart")
        await stop()
        canRecover = true
        try await start(isOnline: false)
    }

    // MARK: Rest

    private func rest() async throws -> String? {
        note("rest")
        transport.restore()
        let read = read
        let watchdog = Task {
            // Other tests may keep the machine busy.
            try await Task.sleep(for: .seconds(120))
            read.update { $0.isLate = true }
        }
        defer { watchdog.cancel() }
        guard let outbox = app.outbox else { return "no outbox" }
        let emptied = Task {
            while true {
                // Others wait for a creation that was refused.
                let state = try await outbox.wait { $0.entries.isEmpty || $0.entries.contains { $0.failure != nil } }
                guard let entry = state.entries.first(where: { $0.failure != nil }) else { return }
                try? await outbox.decide(.discard, for: entry.id)
            }
        }
        let late = Task {
            try await read.wait(until: \.isLate)
            emptied.cancel()
        }
        defer { late.cancel() }
        guard case .success = await emptied.result else {
            return "the outbox is not emptied: \(outbox.state.entries.map { "\($0.write.path) \($0.status)" })"
        }
        server.sendEvents(over: transport) { user }
        // A write of the previous user, or of a process that has ended, may still arrive.
        try await read.wait { [server, user] read in
            if read.isLate || read.failure != nil { return true }
            guard let snapshot = read.snapshot else { return false }
            return Self.isAtRest(snapshot, (try? server.graph(as: user)) ?? [])
        }
        let expected = try server.graph(as: user)
        let result = read.current
        if let failure = result.failure { return failure }
        // A snapshot may have been right at first only because the user has signed out and in again.
        if !result.isLate || result.snapshot.map({ Self.isAtRest($0, expected) }) ?? false {
            canRecover = true
            return nil
        }
        let shown = result.snapshot.map { Self.shown($0).map(\.description).joined(separator: "\n  ") } ?? "nothing"
        let wanted = expected.map(\.description).joined(separator: "\n  ")
        return "shows at rest as \(user)\n  \(shown)\nrather than\n  \(wanted)"
    }

    private static func isAtRest(_ snapshot: LiveSnapshot<Message>, _ expected: [Shown]) -> Bool {
        guard snapshot.source == .server, !snapshot.hasPendingWrites, shown(snapshot) == expected else { return false }
        return snapshot.allSatisfy { row in
            row.hasLoaded(Message.author) && row.hasLoaded(reactions) && row.hasLoaded(Message.readers)
                && row[Message.author].map { $0.state == .confirmed } ?? true
                && row[reactions].allSatisfy { $0.state == .confirmed }
        }
    }

    private static func shown(_ snapshot: LiveSnapshot<Message>) -> [Shown] {
        snapshot.map { row in
            Shown(
                text: row.text, author: row[Message.author]?.name, team: row[Message.author]?[User.team]?.title,
                reactions: row[reactions].map { "\($0.emoji) \($0[Reaction.by]?.name ?? "nil")" },
                readers: row[Message.readers].map(\.name))
        }
    }
}
