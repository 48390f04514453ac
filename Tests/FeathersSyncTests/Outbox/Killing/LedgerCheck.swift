import FeathersCore
import Foundation

/// Whether a server executed what an outbox had accepted: each write once, those of one record in their order.
struct LedgerCheck {
    /// A write as the outbox acknowledged it, or as the server executed it.
    struct Line: Sendable, Hashable {
        let key: String
        let record: String
        let number: Int64
    }

    let acknowledged: [Line]
    let executed: [Line]
    /// The keys of writes that were given up, since nobody knew whether they were executed.
    let unknown: Set<String>
    /// How often the server was sent what it had executed, and knew it.
    let repetitions: Int

    /// What is wrong, a line for each; empty where nothing is.
    var violations: [String] {
        let executions = Dictionary(grouping: executed, by: \.key)
        var violations = acknowledged.compactMap { line -> String? in
            switch executions[line.key] ?? [] {
            case []: unknown.contains(line.key) ? nil : "lost: \(line)"
            case let all where all.contains { $0 != line }: "executed as something else: \(line)"
            default: nil
            }
        }
        violations += executions.values.filter { $0.count > 1 }.map { "executed \($0.count) times: \($0[0])" }
        var last: [String: Int64] = [:]
        for line in executed {
            if let before = last[line.record], before >= line.number { violations.append("after \(before): \(line)") }
            last[line.record] = line.number
        }
        return violations
    }
}

extension LedgerCheck {
    /// - Parameters:
    ///   - acknowledged: lines of a key, a record and a number, and of `UNKNOWN` and a key; the last may be cut off,
    ///     nobody was told of it then.
    ///   - ledger: the server's lines of JSON.
    init(acknowledged: String, ledger: String) throws {
        let lines = acknowledged.wholeLines
        unknown = Set(lines.filter { $0.hasPrefix("UNKNOWN ") }.map { String($0.dropFirst(8)) })
        self.acknowledged = try lines.filter { !$0.hasPrefix("UNKNOWN ") }.map { text in
            let words = text.split(separator: " ")
            guard words.count == 3, let number = Int64(words[2]) else { throw Unreadable(line: text) }
            return Line(key: String(words[0]), record: String(words[1]), number: number)
        }
        let entries = try ledger.wholeLines.map { try JSONValue(parsing: $0.utf8) }
        repetitions = entries.count { $0["repeated"] != nil }
        executed = try entries.filter { $0["repeated"] == nil }.map { json in
            guard let key = json["key"]?.string, let record = json["record"]?.string, let number = json["n"]?.integer
            else {
                throw Unreadable(line: json.description)
            }
            return Line(key: key, record: record, number: number)
        }
    }

    struct Unreadable: Error {
        let line: String
    }
}

extension String {
    fileprivate var wholeLines: [String] {
        split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}
