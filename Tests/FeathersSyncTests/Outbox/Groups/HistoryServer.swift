import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation

@testable import FeathersSync

/// A server that executes each key once, refuses writes as they are fated, and knows the ids that it has assigned.
final class HistoryServer: Sendable {
    /// What becomes of a write whenever it is sent.
    enum Fate: CaseIterable, Sendable {
        case executed, deferred, repeated, replaced, postponed, discarded
    }

    struct State: Sendable {
        /// The numbers of the executed writes, in order.
        var executed: [Int64] = []
        var results: [String: JSONValue] = [:]
        var attempts: [Int64: Int] = [:]
        /// The writes about which the app was asked.
        var violations: [String] = []
        /// Whether nothing reaches the server, because the process was killed.
        var isDown = false
    }

    private let state = Locked(State())

    func withState<Result: Sendable>(_ body: (inout State) -> Result) -> Result { state.withLock(body) }

    static func fate(of number: Int64) -> Fate {
        // Most are executed at once. The generator spreads the numbers.
        var random = SeededGenerator(seed: UInt64(bitPattern: number))
        return Fate.allCases.dropFirst().randomElement(using: &random).flatMap {
            Int.random(in: 0..<2, using: &random) == 0 ? $0 : nil
        } ?? .executed
    }

    /// What an app decides about a refused write. Nothing at first if that is postponed.
    static func decision(about write: OutboxWrite, isLate: Bool) -> OutboxDecision? {
        guard let data = write.data, let number = data["n"]?.integer else { return nil }
        return switch fate(of: number) {
        case .executed, .deferred, .repeated: .retry
        case .replaced: .replace(data.setting("fixed", to: true))
        case .postponed: isLate ? .retry : nil
        case .discarded: .discard
        }
    }

    func answer(_ request: ServiceRequest) throws -> JSONValue {
        try state.withLock { state in
            guard !state.isDown else { throw FeathersError(.unavailable, "down", execution: .neverSent) }
            guard let data = request.data, let number = data["n"]?.integer else { return ["id": 1] }
            for id in [request.id?.json, data["ref"]].compactMap(\.self)
            where !(1...1_000_000).contains(id.integer ?? 0) {
                state.violations.append("\(number) was sent with the id \(id)")
            }
            let key = request.params.headers["Idempotency-Key"] ?? "none"
            if let result = state.results[key] { return result }
            state.attempts[number, default: 0] += 1
            let isFirst = state.attempts[number] == 1
            switch Self.fate(of: number) {
            case .deferred where isFirst: throw FeathersError(.unavailable, "later")
            case .repeated where isFirst, .postponed where isFirst: throw FeathersError(.conflict, "no")
            case .replaced where data["fixed"] == nil, .discarded: throw FeathersError(.unprocessable, "no")
            default: break
            }
            state.executed.append(number)
            let id = JSONValue.integer(Int64(state.executed.count) + 100)
            let result = data.setting("id", to: request.method == .create ? id : request.id?.json ?? id)
            state.results[key] = result
            return result
        }
    }
}
