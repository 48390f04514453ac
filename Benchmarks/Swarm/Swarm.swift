import Feathers
import Foundation

/// `Swarm --url <server> --clients <n>` connects many clients to a Feathers server, lets them make calls, and measures
/// these and the events.
@main
enum Swarm {
    static func main() async {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            guard !options.showsHelp else { return print(Options.help) }
            try raiseFileLimit(to: options.filesNeeded)
            if options.readers > 0 { return print(try await FanOut(options).run()) }
            let tally = Tally()
            try await run(options, tally)
            print(tally.table)
            exit(tally.hasFailures ? 1 : 0)
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(64)
        }
    }

    private static func run(_ options: Options, _ tally: Tally) async throws {
        let apps = await connected(options, tally)
        let start = ContinuousClock.now
        await withTaskGroup(of: Bool.self) { group in
            var left = 0
            if options.expectsEvents {
                for app in apps {
                    let events = app.service(options.service).events(.created, bufferingNewest: 65_536)
                    group.addTask {
                        await listen(to: events, options, tally)
                        return true
                    }
                    left += 1
                }
            }
            await withTaskGroup(of: Void.self) { callers in
                for (index, app) in apps.prefix(options.callers).enumerated() {
                    callers.addTask { await makeCalls(with: app, index + 1, since: start, options, tally) }
                }
            }
            // Gives the remaining events some time to arrive.
            group.addTask {
                try? await Task.sleep(for: options.timeout)
                return false
            }
            while left > 0, await group.next() == true { left -= 1 }
            group.cancelAll()
        }
        if options.expectsEvents { tally.expect(tally.count(of: options.method.rawValue) * apps.count, "event") }
        await withTaskGroup(of: Void.self) { group in
            for app in apps { group.addTask { await app.disconnect() } }
        }
    }

    /// Returns the clients that could connect and sign in.
    private static func connected(_ options: Options, _ tally: Tally) async -> [FeathersApp] {
        let http = PlatformHTTPClient.make()
        return await withTaskGroup(of: FeathersApp?.self) { group in
            var apps: [FeathersApp] = []
            for number in 1...options.clients {
                if number > options.atOnce, let app = await group.next() { apps += app.map { [$0] } ?? [] }
                group.addTask {
                    do { return try await connect(number, options, tally, http) } catch { return nil }
                }
            }
            for await case let app? in group { apps.append(app) }
            return apps
        }
    }

    private static func connect(
        _ number: Int, _ options: Options, _ tally: Tally, _ http: any HTTPClient
    ) async throws -> FeathersApp {
        let transport: any Transport =
            options.usesREST
            ? .rest(options.url, timeout: options.timeout, httpClient: http)
            : .socketIO(options.url) { ($0.transports, $0.callTimeout) = ([.webSocket], options.timeout) }
        let app = FeathersApp(transport: transport)
        if options.email != nil { try app.use(authentication: AuthenticationOptions()) }
        if !options.usesREST { try await tally.measure("connect") { try await app.connect() } }
        if let email = options.email?.replacing("<client>", with: "\(number)") {
            try await tally.measure("sign in") {
                _ = try await app.authenticate(.local(email: email, password: options.password))
            }
        }
        return app
    }

    private static func makeCalls(
        with app: FeathersApp, _ client: Int, since start: ContinuousClock.Instant, _ options: Options, _ tally: Tally
    ) async {
        let service = app.service(options.service)
        for number in 0..<options.calls {
            try? await Task.sleep(until: start + options.interval * number)
            let data: JSONValue = [
                "text": .string("\(client): \(number)"), "swarm": .string(options.run), "sentAt": .integer(now),
            ]
            try? await tally.measure(options.method.rawValue) {
                if options.method == .find {
                    _ = try await service.find(.limit(10))
                } else {
                    _ = try await service.create(data)
                }
            }
        }
    }

    private static func listen(to events: some AsyncSequence<JSONValue, Never>, _ options: Options, _ tally: Tally)
        async
    {
        var left = options.callers * options.calls
        for await record in events where record["swarm"]?.string == options.run {
            tally.add("event", .microseconds(now - (record["sentAt"]?.integer ?? now)))
            left -= 1
            if left == 0 { return }
        }
    }

    /// The time in microseconds since 1970.
    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1e6) }

    private static func raiseFileLimit(to count: Int) throws {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < rlim_t(count) else { return }
        // Only the superuser may exceed the hard limit.
        limit = rlimit(rlim_cur: rlim_t(count), rlim_max: max(limit.rlim_max, rlim_t(count)))
        if setrlimit(resource, &limit) != 0 {
            throw Options.Problem("The system does not allow \(count) open files: see 'ulimit -Hn'")
        }
    }
}
