import Feathers
import FeathersCore

@testable import FeathersSync

/// What must be shown of what is known.
extension LocalOracle {
    /// A row that may be shown: its possible contents. Nil stands for no row.
    private struct Row {
        var contents: [JSONValue?]
        var state: Kind
    }

    enum Kind: Equatable, CustomStringConvertible {
        case confirmed, pending, failed

        var description: String {
            switch self {
            case .confirmed: "confirmed"
            case .pending: "pending"
            case .failed: "failed"
            }
        }
    }

    /// Compares what is shown with what must be.
    /// - Parameters:
    ///   - names: The names of created records, as ``names(_:_:)`` returns them.
    ///   - loose: The keys of the records about which nothing is certain, likewise.
    /// - Returns: The differences.
    mutating func differences(
        _ shown: LiveSnapshot<JSONValue>, _ server: LocalServer, _ entries: [OutboxEntry], _ names: [String: String],
        _ loose: Set<String>,
        isFetching: Bool
    ) -> [String] {
        let rows = rows(server, entries, names, isFetching: isFetching)
        var differences: [String] = []
        var seen: Set<String> = []
        for (record, state) in zip(shown.records, shown.states) {
            let key = record["id"].flatMap { ServiceID($0) }?.description ?? ""
            if !seen.insert(key).inserted { differences.append("\(key) is shown twice") }
            if loose.contains(key) { continue }
            guard let row = rows[key] else {
                differences.append("\(key) is shown: \(record)")
                continue
            }
            if !row.contents.contains(where: { $0.isSome && $0?.withTextID == record.withTextID }) {
                differences.append("\(record) is shown rather than \(row.contents)")
            }
            if Kind(state) != row.state { differences.append("\(key) is \(Kind(state)) rather than \(row.state)") }
            if row.contents.count(where: \.isSome) == 1 { exactRows += 1 } else { looseRows += 1 }
        }
        if let sorter {
            for (first, second) in zip(shown.records, shown.records.dropFirst())
            where sorter.areInIncreasingOrder(second, first) {
                differences.append("\(second) is shown after \(first)")
            }
        }
        if shown.records.count > limit { differences.append("\(shown.records.count) records are shown") }
        // Of a limited result, the records that follow may not be known.
        guard isKnown,
            !isLimited
                || loose.isEmpty && !isFetching && isFromServer && rows.values.allSatisfy({ $0.contents.count == 1 })
        else { return differences }
        let first = isLimited ? firstKeys(server) : []
        for (key, row) in rows where !seen.contains(key) && !loose.contains(key) {
            guard row.contents.allSatisfy(\.isSome), let record = row.contents[0] else { continue }
            if isLimited {
                // Of records with the same rank at the end, any may be shown.
                let isBehind =
                    shown.records.count == limit
                    && shown.records.last.map { !(sorter?.areInIncreasingOrder(record, $0) ?? false) } ?? true
                if isBehind || !first.contains(key) { continue }
            }
            differences.append("\(key) is not shown: \(record)")
        }
        return differences
    }

    /// The keys of the records that are first in the server's result, as last told.
    private func firstKeys(_ server: LocalServer) -> Set<String> {
        var records = told.positions.compactMap { id, range in
            server.versions(of: id, in: range).last?.record.map { JSONValue.object($0) }
        }.filter(matcher.matches)
        if let sorter { records = sorter.sorted(records) }
        return Set(records.prefix(limit).compactMap { $0["id"].flatMap { ServiceID($0) }?.description })
    }

    /// Returns the keys of created records by the id under which they are shown until they are told of under another,
    /// and the keys of records of which the client cannot know whether it has created them.
    func names(_ server: LocalServer, _ entries: [OutboxEntry]) -> (names: [String: String], loose: Set<String>) {
        var names: [String: String] = [:]
        var loose: Set<String> = []
        for entry in entries where entry.write.method == .create {
            let provisional = entry.write.provisionalKey()
            names[provisional] = provisional
            guard let id = server.made[entry.write.key.text], told[id].upperBound > 0 else { continue }
            let versions = server.versions(of: id, in: told[id])
            // Only what is in the result is told of, except by events.
            guard told.new.contains(id) else {
                let isPerhapsShown = versions.contains { included($0.record.map { .object($0) }).isSome }
                if isPerhapsShown || told.perhapsNew.contains(id) { loose.formUnion([provisional, "\(id)"]) }
                continue
            }
            names[provisional] = "\(id)"
            // Changed by others before it was told of, it cannot be recognized.
            let isRecognized = versions.allSatisfy { version in
                version.record.map { record in
                    entry.write.data?.object?.allSatisfy { record[$0.key] == $0.value } ?? false
                } ?? false
            }
            if !isRecognized { loose.formUnion([provisional, "\(id)"]) }
        }
        // Of a record whose creation was given up, although it may have been executed, later writes know only the
        // provisional id.
        for entry in entries where entry.write.method != .create {
            guard let key = entry.write.recordID?.description, names[key] == nil else { continue }
            let made = keys[key, default: []].compactMap { server.made[$0] }
            if !made.isEmpty { loose.formUnion([key] + made.map { "\($0)" }) }
        }
        return (names, loose)
    }

    /// Returns the rows that may be shown, by key.
    private func rows(_ server: LocalServer, _ entries: [OutboxEntry], _ names: [String: String], isFetching: Bool)
        -> [String: Row]
    {
        func name(_ write: OutboxWrite) -> String {
            let key = write.method == .create ? write.provisionalKey() : write.recordID?.description ?? ""
            return names[key] ?? key
        }
        var rows: [String: Row] = [:]
        for id in told.positions.keys {
            rows["\(id)"] = Row(contents: contents(id, server, isFetching: isFetching), state: .confirmed)
        }
        for entry in entries {
            let key = name(entry.write)
            var row = rows[key] ?? Row(contents: [.none], state: .confirmed)
            if entry.isEffective { row.contents = row.contents.map { entry.write.applied(to: $0, key: key) } }
            if entry.failure != nil { row.state = .failed } else if row.state == .confirmed { row.state = .pending }
            rows[key] = row
        }
        for key in rows.keys {
            let contents = (rows[key]?.contents ?? []).map { included($0) }
            rows[key]?.contents = contents.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        }
        return rows
    }

    private func included(_ record: JSONValue?) -> JSONValue? {
        guard let record, matcher.matches(record) else { return .none }
        return record
    }

    /// The possible contents of a row without pending writes.
    private func contents(_ id: Int64, _ server: LocalServer, isFetching: Bool) -> [JSONValue?] {
        let own = answered.filter { $0.id == id }
        let stale =
            isFetching
            ? unheard.filter { write in write.id == id && !own.contains { $0.position == write.position } } : []
        var contents: [JSONValue?] = []
        let outside = told.outside[id, default: [:]].map { (record: JSONObject?.some($0), until: $1) }
        for version in server.versions(of: id, in: told[id]) + outside {
            let record = version.record.map { JSONValue.object($0) }
            // What is not in the result need not be known. Then patches of it show nothing.
            var bases = [included(record)]
            if isLimited, bases[0].isSome { bases.append(.none) }
            // The law of what goes back decides when it must.
            if !bases[0].isSome, record.isSome { bases.append(record) }
            for base in bases {
                func with(_ writes: [Answered], from first: JSONValue?? = .none) -> JSONValue? {
                    writes.reduce(first ?? base) { record, write in
                        if write.write.method == .update || write.write.method == .create && !record.isSome {
                            return write.record
                        }
                        return write.write.applied(to: record, key: "\(id)")
                    }
                }
                // Of what this state lacks, a fetch has ended only what was answered before it began.
                let remaining = own.indices.map { own[$0...] } + [[]]
                let possible = remaining.filter { rest in
                    own.dropLast(rest.count).allSatisfy { $0.isFetched || $0.position <= version.until }
                }
                // Sent twice without a key, a write is executed twice, and a fetch between the two shows it already.
                let isShown = own.last?.write.data?.object?.allSatisfy { base?[$0.key] == $0.value } ?? false
                // A result that lacks the record may be older than what an answer has shown.
                let told = included(base).isSome ? [] : stale + own
                let shown = told.indices.map { with(Array(told[($0 + 1)...]), from: told[$0].record) }
                for content in possible.map({ with(Array($0)) }) + [with(stale + own)] + (isShown ? [base] : []) + shown
                {
                    if !contents.contains(content) { contents.append(content) }
                    // The result of a write is not known either once it is answered, if the record is not in the
                    // result.
                    if !included(content).isSome, !contents.contains(.none) { contents.append(.none) }
                }
            }
        }
        return contents
    }
}

extension JSONValue? {
    /// Comparing with `nil` would be ambiguous, because it is JSON's null too.
    fileprivate var isSome: Bool { if case .some = self { true } else { false } }
}

extension JSONValue {
    /// The record with its id as text: a new id is text until the server's record is known.
    fileprivate var withTextID: JSONValue {
        guard case .object(var object) = self else { return self }
        object["id"] = (object["id"].flatMap { ServiceID($0) }?.description).map { .string($0) }
        return .object(object)
    }
}

extension LocalOracle.Kind {
    fileprivate init(_ state: RecordState) {
        switch state {
        case .confirmed: self = .confirmed
        case .pending: self = .pending
        case .failed: self = .failed
        }
    }
}

extension OutboxEntry {
    /// Whether the write is shown: a refused one is not, unless it creates a record.
    fileprivate var isEffective: Bool { failure == nil || failure?.reason == .unknown || write.method == .create }
}

extension OutboxWrite {
    /// The write applied to a record, as a service would.
    func applied(to record: JSONValue?, key: String) -> JSONValue? {
        switch method {
        case .create:
            guard !record.isSome, case .object(var object)? = data else { return record }
            object["id"] = Int64(key).map { .integer($0) } ?? .string(key)
            return .object(object)
        case .update:
            guard case .object(var object)? = data else { return record }
            object["id"] = Int64(key).map { .integer($0) } ?? .string(key)
            return .object(object)
        case .patch:
            guard case .object(var object)? = record else { return .none }
            for (name, value) in data?.object ?? [:] where name != "id" { object[name] = value }
            return .object(object)
        default: return .none
        }
    }
}
