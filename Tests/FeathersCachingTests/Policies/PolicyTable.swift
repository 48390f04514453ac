import FeathersCaching

/// What every policy gives for what the cache has, with a network that answers and one that fails: the rule of the
/// whole package, in one place.
///
/// Values in order: `cached` and `expired` come from the cache, `network` from the network, `failure` is the network's,
/// `miss` is that nothing is in the cache. `(refresh)` is a request whose outcome nobody hears of. The last column is
/// what the cache has afterwards.
enum PolicyTable {
    enum State: String, CaseIterable, Sendable { case fresh, expired, nothing }
    enum Network: String, CaseIterable, Sendable { case answers, fails }

    struct Row: Sendable, CustomStringConvertible {
        let policy: CachePolicy
        let state: State
        let network: Network
        /// What a stream gives.
        let sequence: [String]
        /// `old`, `new` or `-`.
        let kept: String

        var description: String { "\(policy), \(state), network \(network)" }
        /// How often the network is asked.
        var requests: Int { sequence.count { ["network", "failure", "(refresh)"].contains($0) } + unseenFailures }
        /// `networkFirstCacheIfFailed` does not show the failure it makes up for.
        private var unseenFailures: Int {
            policy == .networkFirstCacheIfFailed && network == .fails && state != .nothing ? 1 : 0
        }
    }

    static let rows: [Row] = text.split(separator: "\n").map { line in
        let columns = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
        guard columns.count == 5, let policy = CachePolicy(rawValue: columns[0]),
            let state = State(rawValue: columns[1]),
            let network = Network(rawValue: columns[2])
        else { preconditionFailure("no row: \(line)") }
        return Row(
            policy: policy, state: state, network: network, sequence: columns[3].split(separator: " ").map(String.init),
            kept: columns[4])
    }

    private static let text = """
        networkOnlyUpdateCache               | fresh   | answers | network            | new
        networkOnlyUpdateCache               | fresh   | fails   | failure            | old
        networkOnlyUpdateCache               | expired | answers | network            | new
        networkOnlyUpdateCache               | expired | fails   | failure            | old
        networkOnlyUpdateCache               | nothing | answers | network            | new
        networkOnlyUpdateCache               | nothing | fails   | failure            | -
        networkOnlyNoCache                   | fresh   | answers | network            | old
        networkOnlyNoCache                   | fresh   | fails   | failure            | old
        networkOnlyNoCache                   | expired | answers | network            | old
        networkOnlyNoCache                   | expired | fails   | failure            | old
        networkOnlyNoCache                   | nothing | answers | network            | -
        networkOnlyNoCache                   | nothing | fails   | failure            | -
        cacheOnly                            | fresh   | answers | cached             | old
        cacheOnly                            | fresh   | fails   | cached             | old
        cacheOnly                            | expired | answers | expired            | old
        cacheOnly                            | expired | fails   | expired            | old
        cacheOnly                            | nothing | answers | miss               | -
        cacheOnly                            | nothing | fails   | miss               | -
        cacheFirstNetworkIfNotFoundOrExpired | fresh   | answers | cached             | old
        cacheFirstNetworkIfNotFoundOrExpired | fresh   | fails   | cached             | old
        cacheFirstNetworkIfNotFoundOrExpired | expired | answers | network            | new
        cacheFirstNetworkIfNotFoundOrExpired | expired | fails   | failure            | old
        cacheFirstNetworkIfNotFoundOrExpired | nothing | answers | network            | new
        cacheFirstNetworkIfNotFoundOrExpired | nothing | fails   | failure            | -
        cacheFirstNetworkAlways              | fresh   | answers | cached network     | new
        cacheFirstNetworkAlways              | fresh   | fails   | cached failure     | old
        cacheFirstNetworkAlways              | expired | answers | expired network    | new
        cacheFirstNetworkAlways              | expired | fails   | expired failure    | old
        cacheFirstNetworkAlways              | nothing | answers | network            | new
        cacheFirstNetworkAlways              | nothing | fails   | failure            | -
        cacheFirstNetworkRefresh             | fresh   | answers | cached (refresh)   | new
        cacheFirstNetworkRefresh             | fresh   | fails   | cached (refresh)   | old
        cacheFirstNetworkRefresh             | expired | answers | expired (refresh)  | new
        cacheFirstNetworkRefresh             | expired | fails   | expired (refresh)  | old
        cacheFirstNetworkRefresh             | nothing | answers | network            | new
        cacheFirstNetworkRefresh             | nothing | fails   | failure            | -
        networkFirstCacheIfFailed            | fresh   | answers | network            | new
        networkFirstCacheIfFailed            | fresh   | fails   | cached             | old
        networkFirstCacheIfFailed            | expired | answers | network            | new
        networkFirstCacheIfFailed            | expired | fails   | expired            | old
        networkFirstCacheIfFailed            | nothing | answers | network            | new
        networkFirstCacheIfFailed            | nothing | fails   | failure            | -
        """
}
