#if os(Linux)
    import CCounters
    import CFloor
    import Feathers
    import Foundation

    /// Events and calls over Socket.IO beside a client in C that only counts frames, on the same server and in the same
    /// run.
    ///
    /// The C client shows what the kernel and the server cost, which no client can avoid. Ratios to it hold on any
    /// machine.
    struct FloorBenchmarks {
        /// A task of one client. It returns the latencies in nanoseconds, if the client measures them.
        private struct Subject {
            let task: String
            let client: String
            let operations: Int
            let run: Run
            var costs: [Usage] = []
            var latencies: [UInt64] = []
            var allocations = 0.0
            var mutexes = 0.0
        }

        private typealias Run = @Sendable (Int) async throws -> [UInt64]

        private static let floor = "C, frames counted only"
        private static let ours = "feathers-swift"
        static let bursts = "event, 64 a write"
        private static let events = 20_000
        private static let callsOneByOne = 2_000
        private static let callsInFlight = 12_800

        private let rounds: Int
        /// The tasks to measure; nil for all.
        private let tasks: [String]?
        private let server: ServerProcess
        private let app: FeathersApp
        private var subjects: [Subject] = []

        init(rounds: Int, tasks: [String]? = nil) async throws {
            (self.rounds, self.tasks) = (rounds, tasks)
            server = try ServerProcess(.socket)
            app = FeathersApp(transport: .socketIO(try server.url) { $0.transports = [.webSocket] })
            try await app.connect()
            guard let opened = cfloor_connect(server.port) else { throw CocoaError(.fileReadUnknown) }
            // Used by one task at a time.
            nonisolated(unsafe) let bare = opened
            for (pattern, task) in [
                (LoopbackSocketServer.EventPattern.paced, "event, one write each"), (.bundle, Self.bursts),
            ] {
                add(task, Self.floor, Self.events) { count in
                    guard cfloor_events(bare, pattern.rawValue, Int32(count)) == 1 else {
                        throw CocoaError(.fileReadUnknown)
                    }
                    return []
                }
                addEvents(task, pattern)
            }
            for (task, calls, inFlight) in [
                ("call, one at a time", Self.callsOneByOne, 1), ("call, 64 in flight", Self.callsInFlight, 64),
            ] {
                add(task, Self.floor, calls) { count in
                    var latencies = [UInt64](repeating: 0, count: count)
                    guard cfloor_calls(bare, Int32(count), Int32(inFlight), &latencies) == 1 else {
                        throw CocoaError(.fileReadUnknown)
                    }
                    return latencies
                }
                addCalls(task, calls, inFlight: inFlight)
            }
        }

        private mutating func addEvents(_ task: String, _ pattern: LoopbackSocketServer.EventPattern) {
            let (source, json) = (app.service(pattern.rawValue), app.service("messages"))
            let models = app.service("messages", of: LoopbackSocketServer.Message.self)
            let run: Run = { count in
                let events = json.events(.created, bufferingNewest: count)
                async let answered: JSONValue = source.create(.integer(Int64(count)))
                var latencies: [UInt64] = []
                for await event in events {
                    latencies.append(cfloor_now() - UInt64(event["id"]?.integer ?? 0))
                    if latencies.count == count { break }
                }
                _ = try await answered
                return latencies
            }
            add(task, Self.ours, Self.events, run)
            add(task, "feathers-swift, typed", Self.events) { count in
                let events = models.events(.created, bufferingNewest: count)
                async let answered: JSONValue = source.create(.integer(Int64(count)))
                var latencies: [UInt64] = []
                for await event in events {
                    latencies.append(cfloor_now() - UInt64(event.id))
                    if latencies.count == count { break }
                }
                _ = try await answered
                return latencies
            }
        }

        private mutating func addCalls(_ task: String, _ calls: Int, inFlight: Int) {
            let (json, models) = (
                app.service("messages"), app.service("messages", of: LoopbackSocketServer.Message.self)
            )
            let run: Run = { count in try await Self.latencies(count, inFlight) { _ = try await json.get(1) } }
            add(task, Self.ours, calls, run)
            add(task, "feathers-swift, typed", calls) { count in
                try await Self.latencies(count, inFlight) { _ = try await models.get(1) }
            }
        }

        private static func latencies(
            _ count: Int, _ tasks: Int, _ call: @escaping @Sendable () async throws -> Void
        ) async throws -> [UInt64] {
            try await withThrowingTaskGroup(of: [UInt64].self) { group in
                for _ in 0..<tasks {
                    group.addTask {
                        var latencies: [UInt64] = []
                        for _ in 0..<count / tasks {
                            let start = cfloor_now()
                            try await call()
                            latencies.append(cfloor_now() - start)
                        }
                        return latencies
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        }

        private mutating func add(
            _ task: String, _ client: String, _ operations: Int, _ run: @escaping Run
        ) {
            guard tasks?.contains(task) ?? true else { return }
            subjects.append(Subject(task: task, client: client, operations: operations, run: run))
        }

        /// Measures in interleaved rounds.
        private func measured() async throws -> [Subject] {
            var subjects = subjects
            for index in subjects.indices { _ = try await subjects[index].run(subjects[index].operations / 4) }
            for _ in 0..<rounds {
                for index in subjects.indices {
                    let start = Usage.now
                    let latencies = try await subjects[index].run(subjects[index].operations)
                    subjects[index].costs.append((Usage.now - start) / Double(subjects[index].operations))
                    subjects[index].latencies += latencies
                }
            }
            return subjects
        }

        /// Fails if an event of a burst takes more than `limit` times as much CPU time as with the client in C, in the
        /// same run and on the same server.
        func checkBursts(_ limit: Int) async throws {
            let cpu = try await measured().map { (client: $0.client, cpu: Usage.median($0.costs).cpu) }
            guard let ours = cpu.first(where: { $0.client == Self.ours })?.cpu,
                let floor = cpu.first(where: { $0.client == Self.floor })?.cpu
            else { return }
            await app.disconnect()
            let words = "An event of a burst takes \((ours / floor).times) the CPU time of the client in C"
            guard ours <= floor * Double(limit) else {
                throw LimitExceeded(description: "\(words) (\(ours.nanosecondsInWords)); at most \(limit)× is allowed")
            }
            print("\(words), of at most \(limit)×.")
        }

        /// Measures, and returns the medians with their ratios to the floor.
        func table() async throws -> String {
            var subjects = try await measured()
            // Counted in runs of their own, because counting takes time.
            for index in subjects.indices {
                let operations = Double(subjects[index].operations)
                let before = ccounters_read()
                ccounters_count(1)
                _ = try await subjects[index].run(subjects[index].operations)
                ccounters_count(0)
                let after = ccounters_read()
                subjects[index].allocations = Double(after.allocations - before.allocations) / operations
                subjects[index].mutexes = Double(after.mutexes - before.mutexes) / operations
            }
            var table = TextTable(
                ("task", .left), ("client", .left), ("CPU", .right), ("wall", .right), ("switches", .right),
                ("allocations", .right),
                ("mutexes", .right), ("p50", .right), ("p99", .right), ("CPU/floor", .right), ("wall/floor", .right))
            var (floor, task) = (Usage(), "")
            for subject in subjects {
                let cost = Usage.median(subject.costs)
                let isFirst = subject.task != task
                if isFirst { (floor, task) = (cost, subject.task) }
                let latencies = subject.latencies.sorted()
                let percentiles = [50, 99].map { percent in
                    latencies.isEmpty
                        ? "–" : Double(latencies[(latencies.count - 1) * percent / 100]).nanosecondsInWords
                }
                table.rows.append(
                    [
                        isFirst ? subject.task : "", subject.client, cost.cpu.nanosecondsInWords,
                        cost.wall.nanosecondsInWords, String(format: "%.2f", cost.switches),
                        String(format: "%.1f", subject.allocations), String(format: "%.1f", subject.mutexes),
                    ] + percentiles + [(cost.cpu / floor.cpu).times, (cost.wall / floor.wall).times])
            }
            withExtendedLifetime(server) {}
            await app.disconnect()
            return """
                \(table.text)

                \(Machine.described(rounds: rounds).title). \
                Per operation, the median of \(rounds) rounds in which the clients alternate.
                An event's latency is the time from the server's write to its reader; \
                events of one write share the time of the write.
                Switches are voluntary and involuntary context switches (getrusage). \
                Allocations are calls of malloc and its kin, mutexes calls of
                pthread_mutex_lock, on all threads of the process, including the benchmark's own; \
                Swift's `Mutex` makes no call and is not counted.
                """
        }
    }

    private struct LimitExceeded: Error, CustomStringConvertible { let description: String }

    /// The time and the context switches that this process has used.
    private struct Usage {
        /// In nanoseconds.
        var wall = 0.0
        var cpu = 0.0
        var switches = 0.0

        static var now: Usage {
            var usage = rusage()
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            func nanoseconds(_ time: timeval) -> Double { Double(time.tv_sec) * 1e9 + Double(time.tv_usec) * 1e3 }
            return Usage(
                wall: Double(cfloor_now()), cpu: nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime),
                switches: Double(usage.ru_nvcsw + usage.ru_nivcsw))
        }

        static func - (left: Usage, right: Usage) -> Usage {
            Usage(wall: left.wall - right.wall, cpu: left.cpu - right.cpu, switches: left.switches - right.switches)
        }

        static func / (usage: Usage, count: Double) -> Usage {
            Usage(wall: usage.wall / count, cpu: usage.cpu / count, switches: usage.switches / count)
        }

        static func median(_ usages: [Usage]) -> Usage {
            func median(_ value: (Usage) -> Double) -> Double { usages.map(value).sorted()[usages.count / 2] }
            return Usage(wall: median(\.wall), cpu: median(\.cpu), switches: median(\.switches))
        }
    }
#endif
