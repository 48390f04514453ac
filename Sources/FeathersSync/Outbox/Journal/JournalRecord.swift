import FeathersCore
import FeathersSupport
import Foundation

/// A step in the progress of a write, as stored in a journal.
enum JournalRecord: Sendable {
    /// The write was queued.
    case added(OutboxWrite)
    /// Signed-out writes belong to a user from now on, or to none again.
    case claimed([UUID], by: Identity?)
    /// An attempt begins. After this record, the write may have been executed.
    case begun(UUID)
    /// No attempt was executed, or another one is wanted regardless.
    case released(UUID)
    /// A decision is needed.
    case failed(UUID, OutboxFailure.Reason, FeathersError, mayHaveExecuted: Bool)
    /// The write is to be sent with other data and another key, made on `base`, whose tag is `tag`.
    case replaced(UUID, key: UUID, data: JSONValue, base: JSONValue? = nil, tag: String? = nil)
    /// The write was executed or discarded. `made` are the ids of the records it created, by the provisional ids under
    /// which other writes may know them. `executed` is the server's result, if a kept result may not contain it yet.
    case ended(UUID, made: [String: ServiceID] = [:], executed: ExecutedResult? = nil)
}

extension JournalRecord {
    /// Creates the record of a failure that needs a decision.
    init(_ failure: OutboxFailure) {
        self = .failed(failure.write.id, failure.reason, failure.error, mayHaveExecuted: failure.mayHaveExecuted)
    }

    /// - Throws: If the data contains a number that JSON cannot represent.
    func payload() throws -> [UInt8] { try JSONValue.object(json).serialized() }

    private var json: JSONObject {
        switch self {
        case .added(let write): return write.json
        case .claimed(let ids, let identity):
            return [
                "step": "claimed", "ids": .array(ids.map(\.json)),
                "identity": identity.map { .string($0.name) } ?? .null,
            ]
        case .begun(let id): return ["step": "begun", "id": id.json]
        case .released(let id): return ["step": "released", "id": id.json]
        case .failed(let id, let reason, let error, let mayHaveExecuted):
            return [
                "step": "failed", "id": id.json, "reason": .string(reason.rawValue), "error": error.wireForm,
                "execution": .string(error.execution.text), "mayHaveExecuted": .bool(mayHaveExecuted),
            ]
        case .replaced(let id, let key, let data, let base, let tag):
            var json: JSONObject = ["step": "replaced", "id": id.json, "key": key.json, "data": data]
            if let base { json["base"] = base }
            if let tag { json["tag"] = .string(tag) }
            return json
        case .ended(let id, let made, let executed):
            var json: JSONObject = ["step": "ended", "id": id.json]
            for (text, id) in made.sorted(by: { $0.key < $1.key }) { json["made", default: [:]][text] = id.json }
            if let executed {
                json["result"] = executed.result
                if let identity = executed.identity { json["identity"] = .string(identity.name) }
                json["date"] = .number(executed.date.timeIntervalSinceReferenceDate)
            }
            return json
        }
    }

    /// Parses a payload; nil if it does not belong to this version.
    init?(payload: ArraySlice<UInt8>) {
        guard let json = try? JSONValue(parsing: payload, maximumDepth: 2048).object else { return nil }
        if json["step"] == "claimed", let ids = json["ids"]?.array {
            self = .claimed(ids.compactMap { UUID($0) }, by: json["identity"]?.string.map(Identity.init))
            return
        }
        guard let id = UUID(json["id"]) else { return nil }
        switch json["step"]?.string {
        case "added":
            guard let write = OutboxWrite(id, json) else { return nil }
            self = .added(write)
        case "begun": self = .begun(id)
        case "released": self = .released(id)
        case "failed":
            guard let reason = json["reason"]?.string.flatMap(OutboxFailure.Reason.init), let wire = json["error"],
                let execution = json["execution"]?.string.flatMap(FeathersError.Execution.init(text:)),
                let mayHaveExecuted = json["mayHaveExecuted"]?.bool
            else { return nil }
            // Earlier versions stored errors of any size.
            var error = FeathersError(wire: wire).stored()
            error.execution = execution
            self = .failed(id, reason, error, mayHaveExecuted: mayHaveExecuted)
        case "replaced":
            guard let key = UUID(json["key"]), let data = json["data"] else { return nil }
            self = .replaced(id, key: key, data: data, base: json["base"], tag: json["tag"]?.string)
        case "ended":
            let date = json["date"]?.number.map { Date(timeIntervalSinceReferenceDate: $0) }
            let executed = date.flatMap { date in
                json["result"].map {
                    ExecutedResult(result: $0, identity: json["identity"]?.string.map(Identity.init), date: date)
                }
            }
            let made = (json["made"]?.object ?? [:]).compactMap { text, id in ServiceID(id).map { (text, $0) } }
            self = .ended(id, made: Dictionary(made) { first, _ in first }, executed: executed)
        default: return nil
        }
    }
}

/// A pending write, as described by a journal.
struct StoredWrite: Sendable {
    var write: OutboxWrite
    /// The position in the order of all writes.
    let number: Int
    /// Whether an attempt may have been executed.
    var mayHaveExecuted = false
    /// The failure that needs a decision, if there is one.
    var failure: OutboxFailure?
    /// The size of the record with the write's data, in bytes.
    fileprivate(set) var dataSize = 0
    /// The size of the record with the failure, in bytes.
    fileprivate(set) var failureSize = 0

    /// Records that an attempt has begun or was not executed: an earlier failure no longer applies.
    fileprivate mutating func progressed(mayHaveExecuted: Bool) {
        self.mayHaveExecuted = mayHaveExecuted
        failure = nil
        failureSize = 0
    }
}

/// The pending writes of a journal: all of its records, applied in order.
struct JournalContents: Sendable {
    private var writes: [UUID: StoredWrite] = [:]
    private var followers = FollowingWrites()
    /// The ids of the last created records, by their provisional ones. A write may reach the file after the end of the
    /// one that creates its record.
    private var made = RecentValues<ServiceID>(limit: 1000)
    private var addedCount = 0
    /// The writes that were executed last, so that older results on disk can be completed.
    private(set) var executed = ExecutedWrites()

    /// The number of pending writes.
    var count: Int { writes.count }

    /// The total size of the records with the writes' data, in bytes.
    private(set) var dataSize = 0

    /// The total size of the records with failures, in bytes.
    private(set) var failureSize = 0

    /// The writes in the order they were queued.
    var inOrder: [StoredWrite] { writes.values.sorted { $0.number < $1.number } }

    /// Applies a record that takes `size` bytes in the file.
    mutating func apply(_ record: JournalRecord, size: Int = 0) {
        switch record {
        case .added(var write):
            if case .string(let text) = write.recordID, let id = made[text] { write.recordID = id }
            addedCount += 1
            writes[write.id] = StoredWrite(write: write, number: addedCount, dataSize: size)
            followers.add(write)
            dataSize += size
        case .claimed(let ids, let identity):
            for id in ids {
                change(id) { stored in
                    stored.write.identity = identity
                    stored.failure?.write.identity = identity
                }
            }
        case .begun(let id): change(id) { $0.progressed(mayHaveExecuted: true) }
        case .released(let id): change(id) { $0.progressed(mayHaveExecuted: false) }
        case .failed(let id, let reason, let error, let mayHaveExecuted):
            change(id) { stored in
                stored.mayHaveExecuted = mayHaveExecuted
                stored.failure = OutboxFailure(
                    write: stored.write, reason: reason, error: error, mayHaveExecuted: mayHaveExecuted)
                stored.failureSize = size
            }
        case .replaced(let id, let key, let data, let base, let tag):
            change(id) { stored in
                stored.progressed(mayHaveExecuted: false)
                stored.write.key = key
                stored.write.data = data
                (stored.write.base, stored.write.entityTag) = (base, tag)
                stored.dataSize = size
            }
        case .ended(let id, let made, let result):
            self.made.add(made)
            guard let stored = writes.removeValue(forKey: id) else { return }
            if let result {
                executed.append(ExecutedWrite(write: stored.write, result: result, size: stored.dataSize + size))
            }
            dataSize -= stored.dataSize
            failureSize -= stored.failureSize
            followers.remove(stored.write)
            for (text, made) in made {
                for other in followers.rename(text, to: made) {
                    writes[other]?.write.recordID = made
                    writes[other]?.failure?.write.recordID = made
                }
            }
        }
    }

    mutating func removeResults(of identity: Identity?) { executed.remove(of: identity) }

    private mutating func change(_ id: UUID, _ body: (inout StoredWrite) -> Void) {
        guard let index = writes.index(forKey: id) else { return }
        let before = (data: writes.values[index].dataSize, failure: writes.values[index].failureSize)
        body(&writes.values[index])
        dataSize += writes.values[index].dataSize - before.data
        failureSize += writes.values[index].failureSize - before.failure
    }

    /// The smallest list of records with the same effect.
    var records: [JournalRecord] {
        executed.writes.flatMap { [JournalRecord.added($0.write), .ended($0.write.id, executed: $0.result)] }
            + made.generations.filter { !$0.isEmpty }.map { .ended(.new, made: $0) }
            + inOrder.flatMap { stored -> [JournalRecord] in
                let added = JournalRecord.added(stored.write)
                if let failure = stored.failure { return [added, JournalRecord(failure)] }
                return stored.mayHaveExecuted ? [added, .begun(stored.write.id)] : [added]
            }
    }
}

// MARK: - JSON

extension OutboxWrite {
    fileprivate var json: JSONObject {
        var json: JSONObject = [
            "step": "added", "id": id.json, "key": key.json, "lane": .string(lane), "path": .string(path),
            "method": .string(method.rawValue), "date": .number(date.timeIntervalSinceReferenceDate),
        ]
        if let identity { json["identity"] = .string(identity.name) }
        if let recordID { json["record"] = recordID.json }
        if let data { json["data"] = data }
        if let base { json["base"] = base }
        if let entityTag { json["tag"] = .string(entityTag) }
        if let idProperty { json["idProperty"] = .string(idProperty) }
        if !query.isEmpty { json["query"] = .object(query.json) }
        for (name, value) in route.sorted(by: { $0.key < $1.key }) {
            json["route", default: [:]][name] = .string(value)
        }
        return json
    }

    fileprivate init?(_ id: UUID, _ json: JSONObject) {
        guard let key = UUID(json["key"]), let lane = json["lane"]?.string, let path = json["path"]?.string,
            let method = json["method"]?.string, let seconds = json["date"]?.number
        else { return nil }
        self.init(
            id: id, key: key, path: path, method: ServiceMethod(rawValue: method),
            recordID: json["record"].flatMap { ServiceID($0) },
            data: json["data"], query: Query(json["query"]?.object ?? [:]),
            route: Dictionary(
                uniqueKeysWithValues: (json["route"]?.object ?? [:]).compactMap { name, value in
                    value.string.map { (name, $0) }
                }),
            date: Date(timeIntervalSinceReferenceDate: seconds), identity: json["identity"]?.string.map(Identity.init),
            base: json["base"],
            entityTag: json["tag"]?.string, lane: lane, idProperty: json["idProperty"]?.string)
    }
}

extension UUID {
    /// The lowercase form, as written by JavaScript libraries.
    var text: String { uuidString.lowercased() }
    fileprivate var json: JSONValue { .string(text) }

    fileprivate init?(_ json: JSONValue?) {
        guard let uuid = json?.string.flatMap(UUID.init(uuidString:)) else { return nil }
        self = uuid
    }
}

extension FeathersError.Execution {
    private static let texts: [Self: String] = [
        .answered: "answered", .neverSent: "neverSent", .mayHaveExecuted: "mayHaveExecuted",
    ]

    fileprivate var text: String { Self.texts[self] ?? "mayHaveExecuted" }

    fileprivate init?(text: String) {
        guard let known = Self.texts.first(where: { $0.value == text })?.key else { return nil }
        self = known
    }
}
