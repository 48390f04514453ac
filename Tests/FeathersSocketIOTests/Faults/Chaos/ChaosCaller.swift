import FeathersCore
import FeathersTesting
import TestBackend

@testable import FeathersSocketIO

/// Calls the backend without a break, one call after the other, and checks that each answer is its own.
struct ChaosCaller {
    let app: FeathersApp
    let journal: ChaosJournal
    let end: ContinuousClock.Instant
    private var random: SeededGenerator
    private var number: Int64

    init(_ index: Int, app: FeathersApp, journal: ChaosJournal, seed: UInt64, end: ContinuousClock.Instant) {
        self.app = app
        self.journal = journal
        self.end = end
        random = SeededGenerator(seed: seed &+ UInt64(index) << 32)
        number = Int64(index) * 10_000_000
    }

    mutating func run() async {
        while ContinuousClock.now < end, !Task.isCancelled {
            number += 1
            await makeCall()
        }
    }

    private mutating func makeCall() async {
        let number = number
        var params = Params(timeout: .milliseconds(Int.random(in: ChaosSettings.timeouts, using: &random)))
        params.isVolatile = Int.random(in: 0..<20, using: &random) == 0
        let kind = Kind.random(&random)
        let patience = Int.random(in: 0..<20, using: &random) == 0 ? Int.random(in: 0...200, using: &random) : nil
        journal.began(number, deadline: .now + (params.timeout ?? .zero))
        do {
            let echoed = try await cancelling(after: patience) { [app, params] in
                try await kind.call(number, app, params)
            }
            if echoed != number {
                journal.violated(
                    "call \(number) (\(kind)) was answered with \(echoed.map(String.init) ?? "nothing of it")")
            }
            journal.ended(number, "answered")
        } catch is CancellationError {
            if patience == nil { journal.violated("call \(number) was cancelled by nobody") }
            journal.ended(number, "cancelled")
        } catch let error as FeathersError {
            journal.ended(number, "\(error.code) \(error.execution)")
            // Over HTTP, a response that is cut in its head counts as unreadable.
            let isOurs = [.unavailable, .timeout, .badGateway].contains(error.code) && error.execution != .answered
            if !isOurs { journal.violated("call \(number) (\(kind)): \(error)") }
        } catch {
            journal.ended(number, "\(type(of: error))")
            journal.violated("call \(number) (\(kind)): \(error)")
        }
    }

    /// Runs a call that is given up after so many milliseconds, if any.
    private func cancelling(after patience: Int?, _ call: @escaping @Sendable () async throws -> Int64?) async throws
        -> Int64?
    {
        guard let patience else { return try await call() }
        return try await withThrowingTaskGroup(of: Int64?.self) { group in
            group.addTask { try await call() }
            group.addTask {
                try await Task.sleep(for: .milliseconds(patience))
                throw CancellationError()
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}

/// The kinds of calls there are.
private enum Kind {
    case slow(milliseconds: Int)
    case echo(padding: Int)
    case find

    static func random(_ random: inout SeededGenerator) -> Kind {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<7: .slow(milliseconds: Int.random(in: 50...400, using: &random))
        case 7: .find
        case 8: .echo(padding: 0)
        default: .echo(padding: Int.random(in: 0...30_000, using: &random))
        }
    }

    /// Makes the call with a number in it, and returns the number that came back.
    func call(_ number: Int64, _ app: FeathersApp, _ params: Params) async throws -> Int64? {
        switch self {
        case .slow(let milliseconds):
            // The server waits for so many milliseconds, the number being some nanoseconds of them.
            let prefix = "\(milliseconds).000"
            let answer = try await app.service("slow").get(ServiceID(prefix + String(number)), params: params)
            guard let id = answer["id"]?.string, id.hasPrefix(prefix) else { return nil }
            return Int64(id.dropFirst(prefix.count))
        case .echo(let padding):
            let data: JSONValue = ["n": .integer(number), "padding": .string(String(repeating: "x", count: padding))]
            let answer = try await app.service("echo").call("shout", with: data, params: params)
            guard answer["data"]?["padding"] == data["padding"] else { return nil }
            return answer["data"]?["n"]?.integer
        case .find:
            let answer = try await app.service("echo").rawFind(
                .where("n", .equals(JSONValue.integer(number))), params: params)
            // A query string carries text.
            return answer["query"]?["n"]?.integer ?? answer["query"]?["n"]?.string.flatMap { Int64($0) }
        }
    }
}
