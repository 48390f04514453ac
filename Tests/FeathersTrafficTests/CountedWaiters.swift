/// How many callers wait for something, as it reports it.
struct CountedWaiters: Sendable {
    private let counts: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init() {
        (counts, continuation) = AsyncStream.makeStream()
    }

    var report: @Sendable (Int) -> Void {
        { [continuation] in continuation.yield($0) }
    }

    /// Until so many wait.
    func wait(for count: Int) async {
        for await waiting in counts where waiting >= count { return }
    }
}
