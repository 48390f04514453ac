/// What can happen in a history, each as often as its weight says.
enum HistoryStep: String, CaseIterable, Sendable {
    case signIn, logOut, endTokens, restart, restartOffline
    case read, readMany, readBoth, pair, burst, overlap, actForAnother
    case startLive, stopLive, look
    case queueWrite, write, foreignChange
    case cut, restore, rest

    var weight: Int {
        switch self {
        case .signIn: 8
        case .logOut: 4
        case .endTokens, .restart, .restartOffline: 1
        case .read: 24
        case .readMany, .readBoth, .pair: 6
        case .burst: 2
        case .overlap: 4
        case .actForAnother: 10
        case .startLive: 5
        case .stopLive: 2
        case .look: 6
        case .queueWrite: 8
        case .write: 12
        case .foreignChange: 12
        case .cut, .restore: 4
        case .rest: 3
        }
    }

    private static let all: [HistoryStep] = allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    static func random(using generator: inout some RandomNumberGenerator) -> HistoryStep {
        all[Int.random(in: all.indices, using: &generator)]
    }
}
