/// Work that goes on for as long as an app lives, and ends when its task is cancelled.
public typealias BackgroundWork = @Sendable (FeathersApp) async -> Void

/// The background work of an app, and the lives it is done in.
struct BackgroundTasks: Sendable {
    private var works: [BackgroundWork] = []
    private var lives: [Int: AsyncStream<BackgroundWork>.Continuation] = [:]
    /// The number of the life that began last.
    private(set) var lastLife = 0

    /// The number of the life that goes on; nil where there is none.
    var currentLife: Int? { lives.keys.max() }

    /// - Returns: the lives that must start the work now.
    mutating func add(_ work: @escaping BackgroundWork) -> [AsyncStream<BackgroundWork>.Continuation] {
        works.append(work)
        return Array(lives.values)
    }

    /// - Returns: the number of the life, and the work it begins with.
    mutating func begin(_ life: AsyncStream<BackgroundWork>.Continuation) -> (number: Int, works: [BackgroundWork]) {
        lastLife += 1
        lives[lastLife] = life
        return (lastLife, works)
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

    /// The number of the life whose background work goes on, or is about to start; nil where the app does not live.
    package var currentLife: Int? { withState { $0.background.currentLife } }

    /// The number of the life that began last.
    package var lastLife: Int { withState { $0.background.lastLife } }

    /// Runs `body` with the background work beside it, which is cancelled, and awaited, when `body` ends.
    func withBackgroundWork<Result>(_ body: () async throws -> Result) async throws -> Result {
        let (later, life) = AsyncStream.makeStream(of: BackgroundWork.self)
        let (number, works) = withState { $0.background.begin(life) }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            // What is known runs in any case, also where the body ends at once.
            for work in works { group.addTask { await work(self) } }
            group.addTask { await self.followConnection() }
            group.addTask {
                await withDiscardingTaskGroup { running in
                    for await work in later { running.addTask { await work(self) } }
                }
            }
            defer {
                withState { $0.background.end(number) }
                group.cancelAll()
            }
            return try await body()
        }
    }
}
