import FeathersCore
import FeathersSupport

extension Authenticator {
    /// Shared work for the app's background.
    struct Offer: Sendable {
        var id: Int
        var number: Int
    }

    /// The app's background, where shared work outlives whoever asked for it.
    struct Runner: Sendable {
        /// Where work is handed in; there as soon as it is needed in an app that lives, even if the background is yet to start.
        private(set) var entrance: AsyncStream<Offer>.Continuation?
        private var offers: AsyncStream<Offer>?
        /// What was handed in and nobody has begun.
        private var waiting: [Int: Offer] = [:]
        private var endedLife = 0

        /// - Parameter life: the number of the app's life; nil where it does not live.
        mutating func isAvailable(in life: Int?) -> Bool {
            guard let life, life > endedLife else { return entrance != nil }
            open()
            return true
        }

        private mutating func open() {
            guard entrance == nil else { return }
            (offers, entrance) = AsyncStream.makeStream()
        }

        mutating func start() -> AsyncStream<Offer> {
            open()
            return offers ?? AsyncStream { $0.finish() }
        }

        mutating func note(_ offer: Offer) { waiting[offer.number] = offer }

        mutating func begin(_ offer: Offer) -> Bool { waiting.removeValue(forKey: offer.number) != nil }

        /// - Returns: what others have to do now.
        mutating func end(life: Int) -> [Offer] {
            defer { (entrance, offers, waiting, endedLife) = (nil, nil, [:], max(life, endedLife)) }
            return Array(waiting.values)
        }
    }

    /// Does shared work as long as the app lives.
    func runSharedWork(in app: FeathersApp) async {
        let life = app.lastLife
        let offers = state.withLock { $0.runner.start() }
        await withDiscardingTaskGroup { group in
            for await offer in offers where state.withLock({ $0.runner.begin(offer) }) {
                group.addTask { await self.perform(offer.id, offer.number, in: app) }
            }
            // Whoever asks from here on finds nobody; what is left is done by those who wait for it.
            let rest = state.withLock { $0.runner.end(life: life) }
            for offer in rest { giveUp(offer.id, offer.number) }
        }
    }
}
