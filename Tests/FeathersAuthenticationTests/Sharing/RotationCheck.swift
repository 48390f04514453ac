/// Whether processes that share a sign-in used each refresh token once, by the lines of `Tests/Support/Backend/rotation.py`.
struct RotationCheck {
    private struct Use: Hashable {
        let token: Substring
        let process: Substring
    }

    /// Every refresh token that the server received, with the process that sent it.
    private var uses: [Use] = []
    /// The refreshes that the server refused.
    private(set) var refusals: [String] = []
    private var killed: Set<String> = []
    /// How many refresh tokens the server has replaced.
    private(set) var refreshes = 0
    /// How often the server received one that it had replaced shortly before.
    private(set) var repetitions = 0
    /// How many requests were refused because others had used up the access token.
    private(set) var refusedCalls = 0

    mutating func add(_ line: String) {
        let words = line.split(separator: " ")
        switch words.first {
        case "refreshed": refreshes += 1
        case "repeated": repetitions += 1
        case "reused", "unknown": refusals.append(line)
        case "refused": refusedCalls += 1
        default: break
        }
        guard let event = words.first, ["refreshed", "repeated", "reused", "unknown"].contains(event), words.count == 3
        else { return }
        uses.append(Use(token: words[1], process: words[2]))
    }

    mutating func addKill(of process: String) { killed.insert(process) }

    /// Returns whether a process has refreshed.
    func hasRefreshed(_ process: String) -> Bool { uses.contains { $0.process == process[...] } }

    /// What is wrong if the processes can lock their storage, a line for each.
    ///
    /// A process that was killed may not have stored the response to its last refresh, so the next one sends the same
    /// token. Nothing else excuses a second use.
    var violations: [String] {
        var lost: Set<Int> = []
        for process in killed {
            if let last = uses.lastIndex(where: { $0.process == process[...] }) { lost.insert(last) }
        }
        let remaining = uses.indices.filter { !lost.contains($0) }.map { uses[$0] }
        let repeated = Dictionary(grouping: remaining, by: \.token).values.filter { $0.count > 1 }
        return refusals
            + repeated.map { "\($0[0].token) was used by \($0.map(\.process).joined(separator: ", "))" }.sorted()
    }
}
