import FeathersCore
import Foundation

/// Reads the related records of a live query's rows.
protocol RelatedReading {
    /// The related records as they were read last.
    var rows: any RelatedGroups { get }
    /// Returns whether the related records of a user's first rows have been read, or cannot be.
    func isRead(for sender: RequestSender) -> Bool

    /// Takes the rows that have changed in the query's result.
    mutating func change(removing old: [ResultRow], adding new: [ResultRow]) throws

    /// Reads what has changed.
    /// - Returns: Whether anything has.
    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> Bool
    mutating func close()
}

/// Reads the related records of one relation, with those of its own relations.
struct RelatedReader<Related: Codable & Sendable>: RelatedReading {
    private let plan: RelationPlan<Related>
    private let source: LiveSource<Related>
    private let order: QuerySorter?
    private var reader: LiveSnapshotReader<Related>
    private var read: RelatedRows<Related>
    /// How many rows of the result have a key, and its value.
    private var wanted: [String: (value: JSONValue, count: Int)] = [:]
    /// Those of the keys that are not requested, because there are too many, and whether the server knows them.
    private var waiting: [String: Bool] = [:]
    /// The most keys that are requested.
    private let maximum: Int
    private var hasWarned = false
    private var snapshot: LiveSnapshot<Related>?
    /// The sign-in to which the server does not show these records.
    private var refused: RequestSender?

    init(
        _ plan: RelationPlan<Related>, _ source: LiveSource<Related>, _ limits: RelationLimits,
        _ wake: AsyncStream<Void>.Continuation
    ) {
        (self.plan, self.source, read) = (plan, source, RelatedRows(plan: plan))
        // A part takes a request for each key.
        maximum = plan.part == nil ? limits.maximumKeysPerList : limits.maximumSingleReads
        order = (try? QueryJudge(source.query, id: plan.id))?.sorter
        reader = LiveSnapshotReader(source, wake)
    }

    var rows: any RelatedGroups { read }

    func isRead(for sender: RequestSender) -> Bool {
        if wanted.isEmpty || refused != nil { return true }
        // A response, a failure or a stored list. Another list may know some of the records before.
        return reader.shownFor == sender && reader.isRelatedRead(for: sender)
            && (read.missing.unfetched.isEmpty || read.missing.failure != nil
                || snapshot?.source != .stored(since: .distantPast))
    }

    mutating func close() { reader.close() }

    mutating func change(removing old: [ResultRow], adding new: [ResultRow]) throws {
        var change = RelatedKeys.Change()
        var fresh: [(key: String, isUnsent: Bool)] = []
        for row in old {
            read.embedded[row.key] = nil
            for (text, _) in keys(of: row) {
                guard let key = wanted[text] else { continue }
                wanted[text]?.count -= 1
                if key.count > 1 { continue }
                wanted[text] = nil
                if waiting.removeValue(forKey: text) == nil {
                    change.removed[text] = read.groups[text]?.map(\.key) ?? []
                }
            }
        }
        for row in new {
            if let record = plan.embedded(in: row.record) { try embed(record, in: row) }
            for (text, value) in keys(of: row) {
                wanted[text, default: (value, 0)].count += 1
                guard wanted[text]?.count == 1, change.removed.removeValue(forKey: text) == nil else { continue }
                fresh.append((text, !plan.isUnique && row.isProvisional))
            }
        }
        request(fresh, &change)
        if !change.isEmpty { reader.changeKeys(change) }
        warn(about: new)
        for key in change.removed.keys { read.groups[key] = nil }
    }

    /// Requests new keys, as many as a list may have, and those that wait if there is room.
    private mutating func request(_ fresh: [(key: String, isUnsent: Bool)], _ change: inout RelatedKeys.Change) {
        var room = maximum - (wanted.count - waiting.count - fresh.count)
        func add(_ key: String, _ isUnsent: Bool) {
            guard let value = wanted[key]?.value else { return }
            change.added[key] = value
            if isUnsent { change.unsent.insert(key) }
            room -= 1
        }
        let hadWaiting = !waiting.isEmpty
        for (key, isUnsent) in fresh { if room > 0 { add(key, isUnsent) } else { waiting[key] = isUnsent } }
        while room > 0, let (key, isUnsent) = waiting.first {
            waiting[key] = nil
            add(key, isUnsent)
        }
        if hadWaiting || !waiting.isEmpty { read.waiting = Set(waiting.keys) }
    }

    private mutating func warn(about rows: [ResultRow]) {
        guard !hasWarned else { return }
        if rows.contains(where: plan.hasMoreKeys) {
            warn(
                "A record has more keys of the relation \(plan.name) than the first \(plan.maximumKeys), which are read"
            )
        } else if !waiting.isEmpty {
            warn("A list has more keys of the relation \(plan.name) than the \(maximum) that are read")
        } else if let reason = rows.lazy.compactMap(plan.misfit).first {
            warn("The relation \(plan.name) finds no records: \(reason)")
        }
    }

    private mutating func warn(_ text: String) {
        hasWarned = true
        source.service.app.diagnostics.log(.warning, .calls, text, [.path: .string(source.service.path)])
    }

    /// Warns once if the server has found none of several records. Their own relation, of many, may have none.
    private mutating func warnIfNoneIsFound() {
        guard !hasWarned, plan.isUnique, waiting.isEmpty, wanted.count > 1, snapshot?.source == .server,
            snapshot?.isEmpty == true, read.missing == MissingRecords(),
            let example = wanted.values.map({ "\($0.value)" }).min()
        else { return }
        warn(
            "The relation \(plan.name) finds none of \(wanted.count) records, for example \(example): check that their "
                + "service has such ids in '\(plan.id)', and shows them to the user")
    }

    private func keys(of row: ResultRow) -> [(text: String, value: JSONValue)] {
        if plan.embedded(in: row.record) != nil { return [] }
        return plan.keys(of: row).compactMap { value in RelatedKeys.text(value).map { ($0, value) } }
    }

    private mutating func embed(_ record: JSONValue, in row: ResultRow) throws {
        let id = RelatedKeys.text(record[plan.id]) ?? row.key
        if let element = try source.decoder(true)(record) {
            read.embedded[row.key] = LiveRow(id: id, record: element, state: .confirmed, write: nil)
        }
    }

    mutating func poll(isolation actor: isolated (any Actor)?) async throws -> Bool {
        (read.changed, read.isNews) = ([], false)
        // Skips users whose rows have no references.
        if wanted.isEmpty, reader.sender == nil { return false }
        if let refused {
            if refused.isCurrent { return false }
            (self.refused, read.missing) = (nil, MissingRecords())
        }
        // The store of the related records may hear of a sign-in later than that of the rows.
        let sender = reader.sender
        if let sender, !sender.isCurrent { forget() }
        do {
            if let next = try await reader.poll(isolation: actor) {
                take(next)
                return true
            }
            return !read.changed.isEmpty
        } catch let error as FeathersError where error.code != .badRequest {
            refused = sender ?? reader.sender
            source.service.app.diagnostics.log(
                .warning, .calls,
                "The related records of service '\(source.service.path)' are not shown: \(error)",
                [.path: .string(source.service.path)], error: error)
            forget()
            read.missing.failure = error
            reader.close()
            return true
        }
    }

    /// Forgets what was read.
    private mutating func forget() {
        read.changed.formUnion(wanted.keys)
        (read.groups, read.missing, read.isRead, snapshot) = ([:], MissingRecords(), false, nil)
    }

    /// Takes the related records of a snapshot: in proportion to those that have changed. All of them, because the key
    /// of a record may be wanted later than the record is known.
    private mutating func take(_ next: LiveSnapshot<Related>) {
        for range in next.difference.ranges {
            for index in range.old {
                guard let row = snapshot?.rows.resultRows[index] else { continue }
                for key in keys(ofRelated: row) {
                    read.changed.insert(key)
                    guard let index = read.groups[key]?.firstIndex(where: { $0 === row }) else { continue }
                    read.groups[key]?.remove(at: index)
                    if read.groups[key]?.isEmpty == true { read.groups[key] = nil }
                }
            }
            for row in range.new.lazy.map({ next.rows.resultRows[$0] }) {
                for key in keys(ofRelated: row) { insert(row, key) }
            }
        }
        // A row also changes when it turns out that it has no related record.
        let missing = next.missing
        if !read.isRead || missing.failure?.code != read.missing.failure?.code {
            read.changed.formUnion(wanted.keys)
        } else if missing != read.missing {
            read.changed.formUnion(missing.unfetched.symmetricDifference(read.missing.unfetched))
            read.changed.formUnion(missing.leftOut.symmetricDifference(read.missing.leftOut))
        }
        (snapshot, read.list, read.missing, read.isRead) = (next, next.rows, missing, true)
        (read.related, read.isNews) = (next.relatedRecords, true)
        warnIfNoneIsFound()
    }

    private mutating func insert(_ row: ResultRow, _ key: String) {
        read.changed.insert(key)
        let place = read.groups[key]?.partitionIndex { other in
            (order?.order(of: row.sortValue, { row.record[$0] }, and: other.sortValue) { other.record[$0] } ?? 0) >= 0
        }
        read.groups[key, default: ResultRows()].insert(row, at: place ?? 0)
    }

    /// Returns the keys to which a related record belongs.
    private func keys(ofRelated row: ResultRow) -> [String] {
        if case .toMany(let property) = plan.kind { return RelatedKeys.text(row.record[property]).map { [$0] } ?? [] }
        return row.isProvisional ? RelatedKeys.provisionalTexts(of: row.key) : [row.key]
    }
}
