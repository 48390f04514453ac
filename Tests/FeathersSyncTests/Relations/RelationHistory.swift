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
        /// The last reactions; none without such a relation.
        let latest: [String]
        /// The number of some reactions; nil without such a relation.
        let count: Int?

        var description: String {
            let parts = "\(latest) \(count.map(String.init) ?? "nil")"
            return "\(text) \(author ?? "nil") \(team ?? "nil") \(reactions) \(readers) \(parts)"
        }
    }

    /// What the reader of the live query has read.
    struct Read: Sendable {
        var snapshot: LiveSnapshot<Message>?
        var failure: String?
        /// Whether the history has waited too long.
        var isLate = false
    }

    private var random: SeededGenerator
    let server: RelationHistoryServer
    private let folder: OutboxFolder
    /// Whether a hook of the app restricts the queries to what the user may see.
    private let hasHook: Bool
    let traits: Set<RelationTrait>
    let relations: HistoryRelations
    /// Whether responses are held back.
    let isHeld = ObservedState(false)
    var user = "ada"
    var app: FeathersApp
    var transport: StubRealTimeTransport
    var read = ObservedState(Read())
    private var live: LiveQuery<Message>?
    private var tasks: [Task<Void, any Error>] = []
    private var mark = 0
    /// Whether what the server can replay is meant for the present user.
    var canRecover = true
    private(set) var counts: [String: Int] = [:]
    private(set) var log: [String] = []

    init(seed: UInt64) async throws {
        random = SeededGenerator(seed: seed)
        traits = RelationTrait.random(using: &random)
        relations = HistoryRelations(traits)
        server = RelationHistoryServer(page: [nil, 2, 3, 10].randomElement(using: &random) ?? nil, traits)
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
        let (server, isHeld, relations) = (server, isHeld, relations)
        // A connection carries no header fields. What arrives for a user who has left is not shown to the next one.
        let client = Locked<@Sendable () -> String>({ "" })
        server.loseEvents()
        let line = Locked<@Sendable () -> StubRealTimeTransport?>({ nil })
        // The server sends the events, in the order of its changes: that of a response before or after it.
        transport = StubRealTimeTransport(
            passingThrough: StubTransport { request in
                let client = client.withLock { $0 }
                // What is held back may be older than the events before it, or not.
                if Bool.random() { try await isHeld.wait { !$0 } }
                let result = try server.respond(to: request, as: client())
                try await isHeld.wait { !$0 }
                if Bool.random(), let line = line.withLock({ $0 })() { server.sendEvents(over: line, as: client) }
                return result
            }, pushesEvents: false)
        line.withLock { $0 = { [weak transport] in transport } }
        if !isOnline { transport.drop() }
        app = FeathersApp(transport: transport)
        if traits.contains(.snakeCase) { app.coding = CodingOptions(keys: .snakeCase) }
        client.withLock { $0 = { [weak app] in app?.identity?.name ?? "" } }
        if let identity { app.setIdentity(identity) }
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
        let query = Query<Message>.sorted(by: server.order)
        let plain = app.service("messages", of: Message.self).live(traits.contains(.growth) ? query.limit(3) : query)
            .measured(by: clock).including(
                relations.author.including(User.team), relations.reactions.including(relations.by), relations.readers)
        let live = relations.addParts(to: plain, server.counts)
        self.live = live
        tasks = [
            Task { [app] in try await app.run() },
            Task {
                do {
                    for try await snapshot in live.snapshots {
                        let foreign = relations.texts(snapshot).filter { text in
                            server.owners.withLock { $0[text] }.map { $0 != snapshot.shownIdentity?.name } ?? false
                        }
                        read.update { read in
                            read.snapshot = snapshot
                            if let text = foreign.first { read.failure = "another user's \(text) is shown" }
                        }
                    }
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
            let step = Int.random(in: 0..<46, using: &random)
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
            case 40..<42: grow()
            case 42..<44: refuse()
            case 44..<46: hold()
            default: if let failure = try await rest() { return failure }
            }
        }
        let failure = try await rest()
        await stop()
        return failure ?? server.leaks.withLock { $0.first }.map { "a provisional id was sent: \($0)" }
    }

    func note(_ text: String) {
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
                    "readers": .array(Bool.random(using: &random) ? [id(), 0] : []), "at": at(),
                ]
            case "users": ["name": .string("u\(mark)"), "teamID": id()]
            case "teams": ["title": .string("t\(mark)")]
            default: ["messageID": id(), "userID": id(), "emoji": .string(pick(["a", "b", "c"]) ?? "a")]
            }
        if let owner = pick([nil, nil, nil, "ada", "bob"]), let owner { data["for"] = .string(owner) }
        return data
    }

    /// A time within one of three seconds, with more digits than JSON has.
    private func at() -> JSONValue {
        .number(.random(in: 1...3, using: &random) + Double(Int.random(in: 0..<64, using: &random)) / 64)
    }

    /// Returns some of the properties of a record, but not who may see it.
    private func changes(_ path: String) -> JSONObject {
        var data = data(path)
        data["for"] = nil
        if let name = pick(data.keys.sorted()), Bool.random(using: &random) { data[name] = nil }
        return data
    }

    /// Makes a record that the models do not decode of some.
    private func spoiled(_ data: JSONObject) -> JSONObject {
        guard traits.contains(.undecodable), Int.random(in: 0..<6, using: &random) == 0 else { return data }
        return JSONObject(data.map { ($0, ["text", "name", "title", "emoji"].contains($0) ? 7 : $1) })
    }

    private func grow() {
        guard traits.contains(.growth), let live else { return }
        let count = Int.random(in: 1...3, using: &random)
        note("grow by \(count)")
        tasks.append(Task { try await live.loadMore(count) })
    }

    private func refuse() {
        guard traits.contains(.refusals), let path = pick(["users", "teams", "reactions"]) else { return }
        let codes: [FeathersError.Code] = [.badRequest, .notFound, .generalError, .unavailable, .tooManyRequests]
        guard let code = pick(codes) else { return }
        server.refusals.withLock { $0[path] = $0[path] == nil ? FeathersError(code, "Refused") : nil }
        note("refuse \(path) \(code)")
    }

    private func hold() {
        guard traits.contains(.held) else { return }
        note("hold")
        isHeld.update { $0.toggle() }
    }

    private func foreignChange() throws {
        guard let path = pick(RelationHistoryServer.paths) else { return }
        let target = pick(server.ids(path, as: user))
        let method = target == nil ? .create : pick([.create, .patch, .patch, .patch, .remove]) ?? ServiceMethod.patch
        // The records that are missing are created too.
        let missing = (Int64(1)...6).first { !server.has(path, $0) }
        let id = method == .create ? missing : target
        let data = spoiled(method == .create ? data(path) : method == .patch ? changes(path) : [:])
        let record = try server.change(method, path, id, data, as: user)
        note("\(method) \(path) \(record)")
        server.sendEvents(over: transport) { user }
    }

    /// Returns data with the names of the service.
    private func written(_ data: JSONObject) -> JSONValue { RelationWire(traits: traits).outward(.object(data)) }

    private func queue() async throws {
        guard !user.isEmpty, let path = pick(["messages", "users", "reactions", "reactions"]) else { return }
        // No one touches the rows of the previous user.
        let snapshot = read.current.snapshot.flatMap { $0.shownIdentity == identity ? $0 : nil }
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
            try await service.create(written(data))
        case ("reactions", 2...3, let row?):
            guard let reaction = pick(row[relations.reactions]), reaction.record.id > 0 else { return }
            let id = Int64(reaction.record.id)
            if Int.random(in: 0..<3, using: &random) == 0 {
                note("queue removal of reaction \(id)")
                try await service.remove(id)
            } else {
                note("queue move of reaction \(id)")
                try await service.patch(id, with: written(data))
            }
        case ("users", 0...1, let row?):
            guard let author = row[relations.author], author.record.id > 0 else { return }
            note("queue user \(author.record.id)")
            try await service.patch(Int64(author.record.id), with: written(data))
        case ("messages", 0, let row?) where row.record.id > 0:
            note("queue removal of message \(row.record.id)")
            try await service.remove(Int64(row.record.id))
        default:
            if path == "messages", let queuedUser {
                data["authorID"] = .provisionalNumber(for: queuedUser.write.provisionalKey())
            }
            note("queue new \(path) \(written(data))")
            try await service.create(written(data))
        }
    }

    /// Nil while no one is signed in.
    private var identity: Identity? { user.isEmpty ? nil : Identity(user) }

    private func changeUser() {
        user = pick(["ada", "bob", ""].filter { $0 != user }) ?? ""
        canRecover = false
        note("user \(user)")
        app.setIdentity(identity)
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
}
