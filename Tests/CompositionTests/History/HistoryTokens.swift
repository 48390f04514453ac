import Feathers
import FeathersCore

@testable import FeathersTesting

/// Calls on behalf of others in a history.
extension History {
    /// Reads and writes with a token of the server's, or with a forged one that names a user.
    func actForAnother() async {
        let (user, isForged, isScoped) = (pick(ModelServer.users), chance(1, in: 3), chance(1, in: 2))
        let token = isForged ? ModelToken.make(["sub": .string(user)]) : server.issueToken(to: user)
        let (service, mark, policy) = (
            app.service(pick(["notes", "feed", "news"])), nextMark(), pick(CachePolicy.allCases)
        )
        let text = JSONValue.string("text \(Int.random(in: 0..<9, using: &random))")
        report.note(
            "\(service.path) as \(user)\(isForged ? ", forged" : "")\(isScoped ? ", in a scope" : "") \(policy.rawValue)"
        )
        let before = server.arrivals.count
        func call(_ params: Params) async -> [JSONValue] {
            var reading = params
            reading.cachePolicy = policy
            // Twice, so that what the first has left in the cache is read too.
            var records: [JSONValue] = []
            for _ in 0..<2 { records += (try? await service.find(params: reading).data) ?? [] }
            // Over REST, no one tells the app's own live queries of it.
            if world.way == .rest { return records }
            let query: Query<JSONValue> = ["claim": .string(user), "mark": .integer(mark)]
            _ = try? await service.create(["text": text], query: query, params: params)
            return records
        }
        let records = isScoped ? await app.withToken(token) { await call(Params()) } : await call(Params(token: token))
        check(records, shownTo: isForged ? [] : [user], "a read with a token of \(user)")
        let arrivals = server.arrivals[before...].filter { $0.mark == mark }
        if world.way == .socket, !arrivals.isEmpty { report.violate("a connection carried a call of another user") }
        if arrivals.contains(where: { $0.user != nil && $0.user != user || isForged && $0.user != nil }) {
            report.violate("a call with a token of \(user) was sent as \(arrivals.map { $0.user ?? "nobody" })")
        }
        let isDetoured = server.state.current.web?.hasDetours == true
        if isOnline, !isDetoured, world.way == .mixed || world.way == .feathers6, arrivals.count != 1 {
            report.violate("a call with a token of its own arrived \(arrivals.count) times")
        }
    }
}
