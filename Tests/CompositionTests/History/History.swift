import Feathers
import FeathersCore
import FeathersSupport
import FeathersTraffic

@testable import FeathersTesting

/// A random history of an app, step by step, with the laws checked after every one.
///
/// It is confined to the task that runs it. What goes on beside a step, such as calls that wait for a connection, is
/// awaited before the next step that could change its meaning.
final class History {
    let report: HistoryReport
    let world: HistoryWorld
    var random: SeededGenerator
    var process: HistoryProcess
    /// Whether the connection stands, or the server can be reached over REST.
    var isOnline = true
    /// Whether a sign-in waits for the connection, or would with the next call.
    var isSigningIn = false
    private var seenArrivals = 0
    private var lastMark = 0

    init(seed: UInt64, way: Way, _ report: HistoryReport) async throws {
        var random = SeededGenerator(seed: seed)
        let traits = HistoryTrait.random(using: &random)
        report.begin(with: traits)
        let policies = CachePolicy.allCases.filter { $0 != .cacheOnly }
        world = HistoryWorld(
            folder: try TemporaryFolder(), way: way, parts: Part.orders[Int(seed % UInt64(Part.orders.count))],
            coalesces: Bool.random(using: &random),
            policy: policies.randomElement(using: &random) ?? .networkOnlyUpdateCache,
            keepsOnDisk: Bool.random(using: &random),
            usesStore: Bool.random(using: &random), traits: traits)
        world.server.state.update { state in
            (state.web, state.hasTextIDs) = (ModelWeb(traits), traits.contains(.textIDs))
        }
        for user in ModelServer.users {
            for path in ["notes", "feed", "news"] { world.server.change(path, .create, ["text": "first"], as: user) }
        }
        self.random = random
        self.report = report
        process = try await HistoryProcess(world, isOnline: true)
        try await process.model.waitUntilConnected()
    }

    var app: FeathersApp { process.app }
    var server: ModelServer { world.server }
    /// Whether calls that need the connection wait for it now.
    var callsWait: Bool { !isOnline && world.way.callsNeedConnection }

    func run(steps: Int) async throws {
        for _ in 0..<steps {
            let step = HistoryStep.random(using: &random)
            report.begin(step)
            try await take(step)
            check()
            if !report.violations.isEmpty { break }
        }
        if report.violations.isEmpty {
            report.begin(.rest)
            try await rest()
            check()
        }
        await process.end()
    }

    private func take(_ step: HistoryStep) async throws {
        switch step {
        case .signIn: await signIn()
        case .logOut: await logOut()
        case .endTokens: try await endTokens()
        case .restart: try await restart(isOnline: true)
        case .restartOffline: try await restart(isOnline: false)
        case .read: await read()
        case .readMany: await readMany()
        case .readBoth: await readBoth()
        case .pair: await pair()
        case .burst: await burst()
        case .overlap: await overlap()
        case .actForAnother: await actForAnother()
        case .startLive: startLive()
        case .stopLive: await stopLive()
        case .look: look()
        case .queueWrite: try await queueWrite()
        case .write: await write()
        case .foreignChange: foreignChange()
        case .cut: cut()
        case .restore: try await restore()
        case .rest: try await rest()
        }
    }

    // MARK: The laws

    /// Checks what a read has shown at a moment when these users may have been signed in.
    func check(_ records: some Sequence<JSONValue>, shownTo users: Set<String>, _ what: String) {
        let told = records.toldUsers
        if !told.isSubset(of: users.union(["nobody"])) {
            report.violate("\(what) showed \(users.sorted()) what \(told.sorted()) were told")
        }
    }

    private func check() {
        let arrivals = server.arrivals
        for arrival in arrivals[seenArrivals...] where !arrival.isStale {
            guard let claim = arrival.claim, claim != "queued by nobody" else { continue }
            // Sent in the moment of a log-out, behind it, and refused: in no one's name.
            if arrival.user == nil, ModelServer.protected.contains(arrival.path) { continue }
            if claim != arrival.user ?? "nobody" {
                report.violate(
                    "\(arrival.method) at \(arrival.path), written by \(claim), was sent as \(arrival.user ?? "nobody")"
                )
            }
        }
        seenArrivals = arrivals.count
        for array in server.state.update({ $0.web?.takeFaults() ?? [] }) {
            report.violate("the server has read an array of \(array) as an object")
        }
        for probe in process.probes {
            for violation in probe.state.current.violations { report.violate(violation) }
        }
        let (sender, entries) = (app.currentSender, process.outbox.state.entries)
        // Otherwise the user has changed meanwhile.
        guard sender.isCurrent else { return }
        let user = sender.identity?.name ?? "nobody"
        for claim in entries.map({ $0.write.query.json["claim"]?.string ?? "unknown" })
        where claim != user && claim != "queued by nobody" {
            report.violate("the outbox shows \(user) a write of \(claim)")
        }
    }

    // MARK: Calls

    /// Makes a call, and waits until it has ended, waits for the connection, or waits for a sign-in that does.
    func make(
        _ isWaiting: @escaping @Sendable (StubLine.WaitingCall) -> Bool, _ body: @escaping @Sendable () async -> Void
    ) async {
        guard callsWait, let line = process.model.connection?.connection.line else { return await body() }
        let ended = Counter()
        let task = Task {
            await body()
            ended.add()
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await ended.wait(for: 1) }
            group.addTask {
                try? await line.wait {
                    $0.queue.contains {
                        isWaiting($0) || ["authentication", "refresh-tokens"].contains($0.request.path)
                    }
                }
            }
            await group.next()
            group.cancelAll()
        }
        if ended.count == 0 { process.pending.append(task) }
    }

    /// A mark by which a call is found again among those that wait.
    func nextMark() -> Int64 {
        lastMark += 1
        return Int64(lastMark)
    }

    func chance(_ one: Int, in all: Int) -> Bool { Int.random(in: 0..<all, using: &random) < one }

    func pick<Element>(_ elements: [Element]) -> Element { elements[Int.random(in: elements.indices, using: &random)] }
}
