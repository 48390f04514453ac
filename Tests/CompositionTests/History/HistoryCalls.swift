import Feathers
import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersSync
@testable import FeathersTesting

/// Reads and writes in a history.
extension History {
    private struct Read: Sendable {
        let path: String
        let id: ServiceID?
        let query: Query<JSONValue>
        let policy: CachePolicy?
        /// Whether users may change before it ends.
        let mayOverlap: Bool

        var description: String {
            let json = try? JSONValue.object(query.json).serialized()
            let record = id.map { " \($0)" } ?? ""
            let condition = query.isEmpty ? "" : " \(json.map { String(decoding: $0, as: UTF8.self) } ?? "")"
            return "\(path)\(record)\(condition) \(policy?.rawValue ?? "")"
        }
    }

    private func randomRead(of paths: [String] = ["notes", "notes", "news"]) -> Read {
        let query: Query<JSONValue> = chance(1, in: 3) ? Query().sorted(by: "text").limit(3) : Query()
        let path = pick(paths)
        let id = chance(1, in: 3) ? pick(ids(at: path) + [ServiceID("none")]) : nil
        return Read(
            path: path, id: id, query: id == nil ? query : Query(),
            policy: chance(1, in: 4) ? nil : CachePolicy.allCases.randomElement(using: &random), mayOverlap: callsWait)
    }

    /// The ids of a service's records, in the order of their creation.
    private func ids(at path: String) -> [ServiceID] {
        (server.state.current.records[path] ?? [:]).sorted { $0.key < $1.key }
            .compactMap { $0.value["id"].flatMap { ServiceID($0) } }
    }

    /// Reads more records than common servers read from an array in a query string.
    func readMany() async {
        guard !callsWait, !isSigningIn else { return }
        // The first call of a process tries the stored token.
        _ = try? await app.notes.find(params: .caching(.networkOnlyNoCache))
        let (user, path) = (process.user, pick(["notes", "news"]))
        let known = ids(at: path)
        // Numbers are read as text from a query string, so a server with a schema for queries is assumed.
        let missing = (0..<25).map { ServiceID("none \($0)") }
        let ids = (known.prefix(Int.random(in: 0...25, using: &random)) + missing).shuffled(using: &random)
        report.note("\(path) \(ids.count)")
        let wanted = Set(ids.map(\.description))
        func there() -> Set<String> {
            Set(
                server.records(of: path, Query(), told: user).compactMap {
                    $0["id"].flatMap { ServiceID($0) }?.description
                }
            )
            .intersection(wanted)
        }
        let before = there()
        guard let result = try? await app.service(path).find(ids: ids, params: .caching(.networkOnlyNoCache)),
            process.user == user
        else { return }
        check(result, shownTo: [user], "a read of many records")
        // Queued writes are executed meanwhile.
        let (found, after) = (Set(result.compactMap { $0["id"].flatMap { ServiceID($0) }?.description }), there())
        if !found.isSubset(of: before.union(after)) || !found.isSuperset(of: before.intersection(after)) {
            report.violate("of \(ids.count) ids, \(found.sorted()) were found rather than \(after.sorted())")
        }
    }

    private func perform(_ read: Read) -> @Sendable () async -> Void {
        let (app, identities, report) = (app, process.identities, report)
        let params = read.policy.map { Params.caching($0) } ?? Params()
        return {
            let begin = identities.position
            let service = app.service(read.path)
            let records: [JSONValue]?
            if let id = read.id {
                records = try? await [service.get(id, params: params)]
            } else {
                records = try? await service.find(read.query, params: params).data
            }
            let end = identities.position
            let users = identities.identities(since: read.mayOverlap ? begin : end, in: app)
            let told = records?.toldUsers ?? []
            if !told.isSubset(of: users.union(["nobody"])) {
                report.violate("a read of \(read.description) showed \(users.sorted()) what \(told.sorted()) were told")
            }
        }
    }

    func read() async {
        guard process.pending.count < 8 else { return }
        let read = randomRead()
        report.note(read.description)
        await make(
            { $0.request.path == read.path && $0.request.method == (read.id == nil ? .find : .get) }, perform(read))
    }

    /// Both values of a policy that yields two.
    func readBoth() async {
        guard !callsWait else { return }
        do {
            for try await result in app.service(pick(["notes", "news"])).cached.find(policy: .cacheFirstNetworkAlways) {
                check(result.value, shownTo: [process.user], "a stream of results")
            }
        } catch {}
    }

    /// Two reads at once, which share a request if that is installed.
    func pair() async {
        guard !callsWait else { return }
        let reads = (0..<2).map { _ in perform(randomRead(of: ["feed"])) }
        await withTaskGroup(of: Void.self) { group in
            for read in reads { group.addTask { await read() } }
        }
    }

    /// More reads at once than may go at once.
    func burst() async {
        guard !callsWait else { return }
        let reads = (0..<24).map { _ in perform(randomRead()) }
        await withTaskGroup(of: Void.self) { group in
            for read in reads { group.addTask { await read() } }
        }
    }

    /// A call whose answer comes only after the user has changed.
    func overlap() async {
        guard isOnline else { return }
        let (app, identities, report, server) = (app, process.identities, report, server)
        let isRead = chance(1, in: 2)
        let method: ServiceMethod = isRead ? .find : .create
        let claim = process.user
        let (before, mark) = (server.arrivals.count, nextMark())
        server.hold("notes", method)
        let ended = Counter()
        let call = Task {
            if isRead {
                let result = try? await app.notes.find(params: .caching(.networkOnlyUpdateCache))
                let (told, user) = (result?.toldUsers ?? [], identities.identities(since: identities.position, in: app))
                if !told.isSubset(of: user) {
                    report.violate("a read in flight showed \(user.sorted()) what \(told.sorted()) were told")
                }
            } else {
                _ = try? await app.notes.create(
                    ["text": "in flight"], query: ["claim": .string(claim), "mark": .integer(mark)])
            }
            ended.add()
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await ended.wait(for: 1) }
            group.addTask {
                try? await server.state.wait {
                    $0.arrivals[before...].contains {
                        isRead ? $0.path == "notes" && $0.method == method : $0.mark == mark
                    }
                }
            }
            await group.next()
            group.cancelAll()
        }
        if chance(1, in: 2) {
            try? await app.logOut()
        } else {
            let user = pick(ModelServer.users)
            report.note(user)
            _ = try? await app.signIn(user)
        }
        server.release("notes", method)
        await call.value
    }

    // MARK: Writes

    private func randomWrite() -> (path: String, method: ServiceMethod, id: ServiceID, data: JSONValue) {
        let path = pick(["notes", "news"])
        let ids = ids(at: path)
        let text = JSONValue.string("text \(Int.random(in: 0..<9, using: &random))")
        let method: ServiceMethod = ids.count > 24 ? .remove : pick([.create, .create, .patch, .patch, .remove])
        return (path, method, ids.isEmpty ? ServiceID(1) : pick(ids), ["text": text])
    }

    func write() async {
        // A call that waits for a sign-in is made by whoever signs in.
        guard !isSigningIn, process.pending.count < 4 else { return }
        let (path, method, id, data) = randomWrite()
        let (app, mark) = (app, nextMark())
        // Over FeathersJS 6, some records are created from a stream that is produced while it is sent.
        let isStreamed = method == .create && world.way == .feathers6 && chance(1, in: 3)
        report.note("\(method) \(path) as \(process.user)\(isStreamed ? " from a stream" : "")")
        await make({ $0.request.params.query.json["mark"] == .integer(mark) }) {
            let service = app.service(path)
            // When the call is made: a token that has ended may end the sign-in at any moment.
            let query: Query<JSONValue> = ["claim": .string(app.identity?.name ?? "nobody"), "mark": .integer(mark)]
            switch method {
            case .create where isStreamed:
                let pieces = AsyncStream { continuation in
                    for byte in (try? data.serialized()) ?? [] { continuation.yield(Data([byte])) }
                    continuation.finish()
                }
                _ = try? await service.create(stream: pieces, contentType: .json, query: query)
            case .create: _ = try? await service.create(data, query: query)
            case .patch: _ = try? await service.patch(id, with: data, query: query)
            default: _ = try? await service.remove(id, query: query)
            }
        }
    }

    func queueWrite() async throws {
        let (path, method, id, data) = randomWrite()
        // A write of no one's is sent by the next user.
        let claim = app.identity?.name ?? "queued by nobody"
        report.note("\(method) \(path) as \(claim)")
        let query: Query<JSONValue> = ["claim": .string(claim)]
        let outbox = app.service(path).outbox
        let queued =
            switch method {
            case .create: try await outbox.create(data, query: query)
            case .patch: try await outbox.patch(id, with: data, query: query)
            default: try await outbox.remove(id, query: query)
            }
        world.queued.withLock { $0[queued.id] = queued.write.key.text }
    }

    func foreignChange() {
        // Over REST, no one tells of it.
        guard world.way != .rest else { return }
        let (path, method, id, data) = randomWrite()
        let owner = (server.state.current.records[path] ?? [:]).values
            .first { $0["id"].flatMap { ServiceID($0) } == id }?["owner"]?.string
        server.change(path, method, id: id, data, as: method == .create ? pick(ModelServer.users) : owner)
    }
}
