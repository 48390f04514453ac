import FeathersCore
import FeathersSupport

/// The place of a record in a list whose values are more precise on the server than in JSON.
extension LiveAnchorReader {
    /// The lists before a record and from it on, without their conditions.
    func halves(around record: JSONValue) -> (before: LiveSource<Record>, after: LiveSource<Record>) {
        var (before, after) = (source, source)
        let sort = source.query.json["$sort"]?.object ?? [:]
        if sort[source.id] == nil { after.query = after.query.sorted(by: source.id) }
        before.query = after.query
        before.query.json["$sort"] = .object(
            JSONObject((after.query.json["$sort"]?.object ?? [:]).map { ($0.key, $0.value.isDescending ? 1 : -1) }))
        before.end = .start
        before.boundary = (try? QuerySorter(after.query))?.firstValue { record[$0] }
        after.boundary = before.boundary
        return (before, after)
    }

    /// Returns the record at which the lists begin if the server's first page does not begin with it: by its values, the
    /// server does not find it there.
    mutating func displaced(by reader: LiveReader<Record>) async throws -> JSONValue? {
        guard let record = unproven, let window = reader.window else { return nil }
        let isFirst = window.withState { store, _ -> Bool? in
            guard let window = store.windows[window.id], window.time > 0 else { return nil }
            return window.known.first?.key == anchor.id.key
        }
        if isFirst != nil { unproven = nil }
        // Write `.none`, because `nil` would become JSON null here.
        return isFirst == false ? .some(record) : .none
    }

    /// Opens both lists where the value of the first sorted property begins: each record is on one side of it. The list in
    /// which the record is has grown to it. If no condition finds it, for example because numbers are sent as text, the
    /// second list begins with the first record of all.
    func openByValue(of record: JSONValue) async throws -> (before: LiveReader<Record>, after: LiveReader<Record>) {
        var (before, after) = halves(around: record)
        guard let sort = after.query.json["$sort"]?.object?.first, let value = after.boundary else {
            return (LiveReader(before, wake), LiveReader(after, wake))
        }
        let (whole, isDescending) = (after, sort.value.isDescending)
        after.query = after.query.joined(with: Query([sort.key: [isDescending ? "$lte" : "$gte": value]]))
        before.query = before.query.joined(with: Query([sort.key: [isDescending ? "$gt" : "$lt": value]]))
        if let index = try await index(in: after, while: value) {
            after.growth = index
        } else if let index = try await index(in: before, while: value) {
            before.growth = index + 1
        } else if let index = try await index(in: whole) {
            (after.query, after.growth) = (whole.query, index)
        }
        before.query = before.query.limit(anchor.count / 2)
        after.query = after.query.limit(anchor.count - anchor.count / 2)
        return (LiveReader(before, wake), LiveReader(after, wake))
    }

    /// Returns the index of the record in a list, or among the first records with a value.
    private func index(in half: LiveSource<Record>, while value: JSONValue? = nil) async throws -> Int? {
        guard let sorter = try QuerySorter(half.query) else { return nil }
        let app = source.service.app
        var known: Set<String> = []
        var index = 0
        for _ in 0...app.relationLimits.maximumPages {
            let query = half.query.limit(1_000).skip(index)
            let page = try await app.asOwnWork { try await half.page(query).0 }
            let count = known.count
            for record in page.data {
                guard let key = RelatedKeys.text(record[source.id]) else { continue }
                if key == anchor.id.key { return index }
                if let value, sorter.firstValue(of: { record[$0] }) != value { return nil }
                known.insert(key)
                index += 1
            }
            if known.count == count || page.total == index || page.limit == nil { return nil }
        }
        return nil
    }
}

extension JSONValue {
    /// Whether this is the direction of a descending order.
    var isDescending: Bool { (integer ?? string.flatMap { Int64($0) } ?? 1) < 0 }
}
