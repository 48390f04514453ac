import FeathersCore
import Foundation

/// A queued write as a live query sees it: the records it concerns, and how far it has come.
struct LiveWrite: Sendable {
    /// A record that the write creates or changes.
    struct Target: Sendable {
        /// The key before the server has assigned one.
        let firstKey: String
        /// The key by which the record is known now.
        var key: String
        let data: JSONValue?
        /// Whether the record has no id of its own yet.
        var isProvisional: Bool
    }

    var write: OutboxWrite
    /// The position in the order of all writes.
    let number: Int
    private(set) var targets: [Target]
    /// Whether an attempt is in flight or may have been executed, so that events may already show the write.
    var isSending = false
    /// Whether the attempt in flight follows one that the server may have executed, so that its result may be old.
    var isRepeated = false
    /// Whether the user has decided to send the write again, although the server may have executed it. The events of
    /// both times look alike.
    var isRetried = false
    /// Whether the event of this executed write may have been missed, because it was sent before.
    var mayBeSilent = false
    var failure: OutboxFailure?
    /// The server's records by key, once the write was executed.
    var results: [String: JSONValue]?
    /// Events since the write was sent that the base has taken. If there are any, the result may be older than they
    /// are.
    var seen: [JSONValue] = []
    /// Whether the base may have changed since the write was sent.
    var isTouched = false
    /// The records that events have changed or removed since the write was sent, and which of them are gone. One of
    /// them may turn out to be the record that the write creates, with an event that has overtaken the result.
    private(set) var overtaken: [String: Bool] = [:]
    /// Events since the write was sent that may be its own and that the base has not taken. If its own is among them,
    /// no other follows.
    var untaken: [JSONValue] = []
    /// Whether a fetch has shown the place of a created record.
    var isPlaced = false
    /// How often the write was applied again after its result had been taken.
    var restorations = 0
    /// When the result arrived, in the order of the fetches.
    var executedAt = 0

    /// - Parameters:
    ///   - write: The queued write.
    ///   - number: Its position in the queue.
    ///   - id: The name of the records' id property.
    init(_ write: OutboxWrite, number: Int, id: String) {
        (self.write, self.number) = (write, number)
        switch (write.method, write.recordID, write.data) {
        case (.create, _, .array(let elements)?):
            targets = elements.indices.map { Self.target(elements[$0], id, provisional: write.provisionalKey(at: $0)) }
        case (.create, _, let data?): targets = [Self.target(data, id, provisional: write.provisionalKey())]
        case (_, let record?, let data):
            targets = [Target(firstKey: record.description, key: record.description, data: data, isProvisional: false)]
        default: targets = []
        }
    }

    private static func target(_ data: JSONValue, _ id: String, provisional: String) -> Target {
        let key = data[id].flatMap { ServiceID($0) }?.description
        return Target(firstKey: key ?? provisional, key: key ?? provisional, data: data, isProvisional: key == nil)
    }

    var keys: [String] { targets.map(\.key) }

    func concerns(_ key: String) -> Bool { targets.contains { $0.key == key } }

    /// Records that an attempt begins. Only later events tell what has come of it.
    mutating func sent() { (isSending, isTouched, seen, overtaken) = (true, false, [], [:]) }

    /// Records that a record has changed or is gone, which may be one that the write creates.
    mutating func overtake(_ key: String, isRemoved: Bool) {
        guard write.method == .create else { return }
        if overtaken.count < 1000 { overtaken[key] = isRemoved } else { isTouched = true }
    }

    /// Whether the write changes what is shown. A refused one no longer does, except for a record that exists nowhere
    /// else.
    func isEffective(confirmedOnly: Bool) -> Bool {
        if results != nil { return true }
        guard !confirmedOnly else { return false }
        guard let failure, failure.reason != .unknown else { return true }
        return write.method == .create
    }

    /// Records the key that the server has assigned to a record.
    mutating func rename(_ first: String, to key: String) {
        for index in targets.indices where targets[index].firstKey == first {
            targets[index].key = key
            targets[index].isProvisional = false
        }
    }

    /// Applies the write to a record.
    /// - Parameter id: The name of the records' id property.
    /// - Returns: The record after the write; nil if there is none.
    func apply(to record: JSONValue?, key: String, id: String) -> JSONValue? {
        guard let target = targets.first(where: { $0.key == key }) else { return record }
        switch write.method {
        case .create: return record ?? results?[key] ?? target.record(id)
        case .update:
            return results?[key]
                ?? target.data.map { $0.setting(id, to: record?[id] ?? write.recordID?.json ?? .string(key)) }
        case .patch: return record?.merging(target.data, keeping: id)
        case .remove: return nil
        default: return record
        }
    }

    /// Returns whether a record shows the write, so that applying it again would change nothing.
    func isShown(by record: JSONValue?, key: String, id: String) -> Bool {
        switch write.method {
        case .create: record != nil
        case .remove: record == nil
        default: record.map { $0.merging(targets.first { $0.key == key }?.data, keeping: id) == $0 } ?? false
        }
    }

    /// Whether the base has taken the events of this executed write.
    var isSeen: Bool { !isRetried && isReported(by: seen) }

    /// Whether the events of this executed write have arrived.
    var isHeard: Bool { isReported(by: untaken) || mayBeSilent && isSeen }

    private func isReported(by events: [JSONValue]) -> Bool {
        targets.allSatisfy { target in results?[target.key].map(events.contains) ?? false }
    }

    /// Returns whether a result shows the write.
    func isShown(in base: LiveWindow) -> Bool {
        base.plan.limit == 0
            || targets.allSatisfy { target in
                if let entry = base[target.key] { return isShown(by: entry.record, key: target.key, id: base.plan.id) }
                // Whether other records are in the result only the server knows, or what has moved up when a skipped
                // one was removed.
                guard base.plan.skip == 0 else { return false }
                guard write.method != .remove, let record = results?[target.key] else { return true }
                // A record beyond the known part, or outside the result, is not expected in the base.
                return base.plan.canMatch && (base.isBeyond(record) || !base.plan.matches(record))
            }
    }

    /// Returns whether an event may be one that this write caused, in flight or executed.
    func mayHaveCaused(_ event: ServiceEvent, key: String, id: String) -> Bool {
        EventName(endOf: write.method) == event.name && (concerns(key) || match(for: event.data, id: id) != nil)
    }

    /// Returns whether an event is the one that this executed write caused.
    func caused(_ event: ServiceEvent, key: String) -> Bool {
        guard let results, EventName(endOf: write.method) == event.name else { return false }
        return event.name == .removed || results[key] == event.data
    }

    /// Returns the server's records from the result of the write, by key; nil if the result does not contain them.
    mutating func records(in result: JSONValue, id: String) -> [String: JSONValue]? {
        // A selection is not the record.
        let records = write.query.json["$select"] == nil ? (result.array ?? [result]) : []
        var found: [String: JSONValue] = [:]
        for (index, target) in targets.enumerated() {
            if write.method == .remove {
                found[target.key] = [id: write.recordID?.json ?? .null]
            } else {
                guard index < records.count, records[index].object != nil,
                    let key = records[index][id].flatMap({ ServiceID($0) })?.description,
                    key == target.key || write.method == .create
                else { return nil }
                targets[index].key = key
                targets[index].isProvisional = false
                found[key] = records[index]
            }
        }
        return found
    }

    /// Returns the record without an id that a new record of the server's probably is.
    func match(for record: JSONValue, id: String) -> Target? {
        guard write.method == .create, isSending, results == nil else { return nil }
        return targets.first { target in
            guard target.isProvisional, let object = target.data?.object else { return false }
            return object.allSatisfy { name, value in name == id || record[name] == value }
        }
    }
}

extension LiveWrite.Target {
    /// The record to show until the server has responded.
    fileprivate func record(_ id: String) -> JSONValue? {
        guard let data, data.object != nil else { return nil }
        return data[id].flatMap { ServiceID($0) } == nil ? data.setting(id, to: .string(key)) : data
    }
}

extension OutboxWrite {
    /// Returns the id by which a created record is known until the server has assigned one.
    /// - Parameter index: The index of the record in the data, if that is an array.
    func provisionalKey(at index: Int? = nil) -> String { index.map { "\(id.text)-\($0)" } ?? id.text }

    /// The ids of all records that the write creates, in the order of its data.
    var provisionalKeys: [String] {
        guard method == .create else { return [] }
        return data?.array.map { $0.indices.map { provisionalKey(at: $0) } } ?? [provisionalKey()]
    }
}

extension JSONValue {
    /// The provisional id `text` as a negative integer, for models whose id is a number.
    static func provisionalNumber(for text: String) -> JSONValue {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        // 52 bits, which JavaScript represents exactly, and so that the number fits in every kind of `Int`.
        return .integer(-Int64(hash >> 12) - 1)
    }

    func setting(_ name: String, to value: JSONValue) -> JSONValue {
        guard case .object(var object) = self else { return self }
        object[name] = value
        return .object(object)
    }

    /// Returns the object with the properties of another one, as `patch` merges them.
    func merging(_ changes: JSONValue?, keeping id: String? = nil) -> JSONValue {
        guard case .object(var object) = self, let changes = changes?.object else { return self }
        for (name, value) in changes where name != id { object[name] = value }
        return .object(object)
    }
}
