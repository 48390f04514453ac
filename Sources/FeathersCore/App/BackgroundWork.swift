/// Work that goes on for as long as an app lives, and ends when its task is cancelled.
public typealias BackgroundWork = @Sendable (FeathersApp) async -> Void

/// The background work of an app, and the lives it is done in.
struct BackgroundWorks: Sendable {
    private var works: [BackgroundWork] = []
    private var lives: [Int: AsyncStream<BackgroundWork>.Continuation] = [:]
    private var nextLife = 0

    /// - Returns: the lives that must start the work now.
    mutating func add(_ work: @escaping BackgroundWork) -> [AsyncStream<BackgroundWork>.Continuation] {
        works.append(work)
        return Array(lives.values)
    }

    /// - Returns: the number of the life, and the work it begins with.
    mutating func begin(_ life: AsyncStream<BackgroundWork>.Continuation) -> (number: Int, works: [BackgroundWork]) {
        nextLife += 1
        lives[nextLife] = life
        return (nextLife, works)
    }

    mutating func end(_ number: Int) {
        lives[number] = nil
    }
}

extension FeathersApp {
    /// Adds work that runs beside everything else while the app lives: during ``run()`` and ``withFeathersApp(_:_:)``.
    ///
    /// It starts after the app's set-up, in an app that lives already at once, and is cancelled before the connection is closed. Where only
    /// ``connect()`` keeps a connection, nobody starts it. It is handed its app, so that it need not hold it.
    public func addBackgroundWork(_ work: @escaping BackgroundWork) {
        for life in withState({ $0.background.add(work) }) { life.yield(work) }
    }

    /// Runs `body` with the background work beside it, which is cancelled, and awaited, when `body` ends.
    func withBackgroundWork<Result>(_ body: () async throws -> Result) async throws -> Result {
        let (works, life) = AsyncStream.makeStream(of: BackgroundWork.self)
        let (number, first) = withState { $0.background.begin(life) }
        for work in first { life.yield(work) }
        defer { withState { $0.background.end(number) } }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { running in
                    for await work in works { running.addTask { await work(self) } }
                }
            }
            defer { group.cancelAll() }
            return try await body()
        }
    }
}
