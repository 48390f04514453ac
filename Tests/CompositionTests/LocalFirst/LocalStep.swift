/// What can happen in a local-first history, each as often as its weight says.
enum LocalStep: String, CaseIterable, Sendable {
    case queue, execute, refuse, answer, lose, hear, foreignChange, decide
    case cut, restore, retry, keep, kill, killOffline, changeUser, screen, grow, rest

    var weight: Int {
        switch self {
        case .queue: 24
        case .execute: 20
        case .refuse: 3
        case .answer: 20
        case .hear: 20
        case .foreignChange: 12
        case .decide: 5
        case .lose, .cut: 2
        case .restore: 4
        case .retry: 3
        case .keep: 4
        case .kill, .killOffline: 1
        case .changeUser: 2
        case .screen, .grow: 3
        case .rest: 1
        }
    }

    private static let all: [LocalStep] = allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    static func random(using generator: inout some RandomNumberGenerator) -> LocalStep {
        all[Int.random(in: all.indices, using: &generator)]
    }
}
