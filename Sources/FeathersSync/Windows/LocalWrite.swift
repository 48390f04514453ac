import FeathersCore
import Foundation

/// What a queued write does to one record. A write that creates several records is several of these.
struct LocalWrite: Sendable {
    /// The queued write.
    var write: OutboxWrite
    /// The position in the order of all writes.
    let number: Int
    /// The index of the record in the data, if that is an array.
    private(set) var index: Int?
    /// The key of the record: a provisional one until the response to a creation, unless the app chose the id.
    var key: String
    private(set) var data: JSONValue?
    /// Whether the record has no id of its own yet.
    var isProvisional: Bool
    var failure: OutboxFailure?
    /// Whether an attempt is in flight, or a lost one is repeated.
    var isInFlight = false
    /// Whether the response may be old: the write is sent for the second time, or events were missed while it was in
    /// flight.
    var isDoubtful = false
    /// The events while an attempt is in flight that may be the write's own.
    var seen: [Report] = []
    /// The keys of the records that look like the one that this creation may have made.
    private(set) var candidates: [String] = []
    /// The store's time at the response; nil before.
    var answered: Int?
    /// The record of the response; nil before, and if the response is doubtful.
    var result: JSONValue?
    /// The number of the change that has stored the response; 0 before, and if it is not stored.
    var change = 0

    var id: UUID { write.id }
    /// Whether the key of the record is not one of the server's.
    var hasProvisionalKey: Bool { isProvisional && key == write.provisionalKey(at: index) }

    /// Returns what a write does, record by record. Custom methods have no records.
    /// - Parameter id: The name of the records' id property.
    static func parts(of write: OutboxWrite, number: Int, id: String) -> [LocalWrite] {
        switch (write.method, write.recordID, write.data) {
        case (.create, _, .array(let elements)?):
            elements.enumerated().map { LocalWrite(creating: $1, at: $0, write, number, id) }
        case (.create, _, let data?): [LocalWrite(creating: data, at: nil, write, number, id)]
        case (_, let record?, let data):
            [LocalWrite(write, number, nil, record.key, data, isProvisional: false)]
        default: []
        }
    }

    private init(creating data: JSONValue, at index: Int?, _ write: OutboxWrite, _ number: Int, _ id: String) {
        let key = data[id].flatMap { ServiceID($0) }?.key
        self.init(write, number, index, key ?? write.provisionalKey(at: index), data, isProvisional: key == nil)
    }

    private init(
        _ write: OutboxWrite, _ number: Int, _ index: Int?, _ key: String, _ data: JSONValue?, isProvisional: Bool
    ) {
        (self.write, self.number, self.index, self.key) = (write, number, index, key)
        (self.data, self.isProvisional) = (data, isProvisional)
    }

    /// Whether the write changes what is shown. A refused one no longer does, except for a record that exists nowhere
    /// else.
    var isEffective: Bool { (failure.map { $0.reason == .unknown } ?? true) || write.method == .create }

    /// Applies the write to a record.
    /// - Parameter id: The name of the records' id property.
    /// - Returns: The record after the write; nil if there is none.
    func apply(to record: JSONValue?, id: String) -> JSONValue? {
        switch write.method {
        case .create: record ?? data.flatMap { $0.object == nil ? .none : $0.setting(id, to: created(id)) }
        case .update: data.map { $0.setting(id, to: record?[id] ?? write.recordID?.json ?? .string(key)) }
        case .patch: record?.applying(data, keeping: id)
        case .remove: nil
        default: record
        }
    }

    /// Gives the created record the id from the server's response.
    mutating func name(_ report: Report, id: String) {
        key = report.key
        if let name = report.record?[id] { data = data?.setting(id, to: name) }
    }

    private func created(_ id: String) -> JSONValue { data?[id].flatMap { ServiceID($0) }?.json ?? .string(key) }

    /// Whether the write may have created a record whose id is not known.
    var mayHaveCreated: Bool { isProvisional && (isInFlight || failure?.reason == .unknown) }

    /// Returns whether a new record of the server's may be the one that this write creates, or has created.
    func looksLike(_ record: JSONValue, id: String) -> Bool {
        guard write.method == .create, mayHaveCreated, let data = data?.object else { return false }
        return data.allSatisfy { name, value in name == id || record[name] ?? .null == value }
    }

    /// Adds a record that the app may choose as the one that this creation has made.
    mutating func addCandidate(_ key: String) {
        if candidates.count < 20, !candidates.contains(key) { candidates.append(key) }
    }

    /// Returns what the server has reported in a response of the write; nil if that does not contain the record.
    func report(in response: JSONValue, id: String) -> Report? {
        // With `$select`, the response is not the whole record.
        guard write.query.json["$select"] == nil else { return nil }
        if write.method == .remove { return Report(name: .removed, key: key, data: response) }
        let element = index.map { response[$0] } ?? response
        guard let name = EventName(endOf: write.method), let element, element.object != nil,
            let found = element[id].flatMap({ ServiceID($0) })?.key, found == key || write.method == .create
        else { return nil }
        return Report(name: name, key: found, data: element)
    }
}

/// A creation in flight for which a new record is taken for a short time, during which the record has no row of its own.
/// This decides what is shown, never what is sent.
struct LookAlike: Sendable {
    /// The key of the creation's record.
    let creation: String
    /// The position in the order in which look-alikes were found.
    let number: Int
}

extension OutboxWrite {
    /// Returns the id by which a created record is known until the server has assigned one.
    /// - Parameter index: The index of the record in the data, if that is an array.
    func provisionalKey(at index: Int? = nil) -> String { index.map { "\(id.text)-\($0)" } ?? id.text }

    /// The ids of all records that the write creates, in the order of its data.
    var provisionalKeys: [String] { Self.provisionalKeys(of: id, method, data) }

    static func provisionalKeys(of id: UUID, _ method: ServiceMethod, _ data: JSONValue?) -> [String] {
        guard method == .create else { return [] }
        return data?.array.map { $0.indices.map { "\(id.text)-\($0)" } } ?? [id.text]
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

    /// Returns the same value with negative integers instead of the provisional ids of queued creations, at any depth.
    func withProvisionalNumbers(_ isQueued: (UUID) -> Bool) -> JSONValue {
        switch self {
        case .string(let text):
            // The id of a record in an array of creations ends with its index.
            text.utf8.count >= 36 && UUID(uuidString: String(text.prefix(36))).map(isQueued) ?? false
                ? .provisionalNumber(for: text) : self
        case .array(let elements): .array(elements.map { $0.withProvisionalNumbers(isQueued) })
        case .object(let object):
            .object(JSONObject(object.map { ($0.key, $0.value.withProvisionalNumbers(isQueued)) }))
        default: self
        }
    }

    func setting(_ name: String, to value: JSONValue) -> JSONValue {
        guard case .object(var object) = self else { return self }
        object[name] = value
        return .object(object)
    }

    /// Returns the object with the properties of another one, as `patch` merges them.
    func applying(_ changes: JSONValue?, keeping id: String? = nil) -> JSONValue {
        guard case .object(var object) = self, let changes = changes?.object else { return self }
        for (name, value) in changes where name != id { object[name] = value }
        return .object(object)
    }
}
