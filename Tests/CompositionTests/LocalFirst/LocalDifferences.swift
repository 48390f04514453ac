import Feathers
import FeathersCore
import FeathersSupport
import Foundation

@testable import FeathersSync

extension LocalHistory {
    /// Returns how what the live queries show differs from what their oracles expect.
    func differences() -> [String] {
        let entries = entries
        var all: [String] = []
        for index in process.readers.indices {
            let isFetching = process.isFetching(oracles[index])
            let read = process.readers[index].takeNew()
            let name = "\(oracles[index].query.json)"
            if let failure = read.failure { all.append("\(name) ended with \(failure)") }
            for entry in entries where entry.write.method == .create {
                oracles[index].keys[entry.write.provisionalKey(), default: []].insert(entry.write.key.text)
            }
            laws[index].noteIDs(server, entries)
            let (names, loose) = oracles[index].names(server, entries)
            for snapshot in read.new {
                shown[index] = snapshot
                if snapshot.source == .server { oracles[index].isChanged = true }
                let violations = laws[index].check(
                    snapshot, server, oracles[index], entries, loose: loose.union(looseBefore[index]))
                report.violate(violations.map { "\(name): \($0)" })
            }
            looseBefore[index] = loose
            if !isFetching { oracles[index].forgetAnswered() }
            guard let snapshot = shown[index] else {
                if oracles[index].isFromServer { all.append("\(name) shows nothing") }
                continue
            }
            // An event that leaves a result incomplete is shown with the result that is being fetched.
            guard !isFetching || !read.new.isEmpty || process.connection != nil && !isOnline else {
                report.skip()
                continue
            }
            report.check()
            guard user != "nobody" else {
                if !snapshot.records.isEmpty { all.append("\(name) shows no one \(snapshot.records)") }
                continue
            }
            all += oracles[index].differences(snapshot, server, entries, names, loose, isFetching: isFetching).map {
                "\(name): \($0)"
            }
            if (snapshot.source == .server) != oracles[index].isFromServer {
                all.append("\(name) comes from \(snapshot.source)")
            }
        }
        return all
    }
}
