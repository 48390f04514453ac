import FeathersCore
import Foundation

/// The names of the records that queued writes create: the ids that the server has assigned, by the keys under which
/// the records were first known.
///
/// Names are read where data goes out, and where the app names a record. A key is text, or a number in models whose ids
/// are numbers.
struct Names: Sendable {
    /// What is known of the name of a key.
    enum Name: Sendable, Equatable {
        /// The record's creation is queued.
        case queued(UUID)
        case assigned(ServiceID)
        /// The record was created, but the server has not said its id.
        case unknown
        /// The record's creation was discarded.
        case gone
    }

    /// A name in the database.
    struct Stored: Sendable, Equatable {
        let key: String
        let name: Name
        /// The service and route of the record; nil if there is none.
        var place: String?
    }

    /// A record that the app names by its key, or by its id.
    struct Known: Sendable {
        /// The id to send: the key until the server has assigned another one.
        var id: ServiceID
        /// The lane of the write that creates the record; nil if an earlier process has created it.
        let lane: String?
        /// The user whose write that is.
        let identity: Identity?
        /// Whether this is found by a key other than the server's id.
        var isProvisional = false
    }

    /// A key without an id, and where it is in a call.
    struct Missing: Sendable {
        let name: Name
        /// The property, such as `data.board`.
        let property: String
    }

    private struct Entry: Sendable {
        var name: Name
        /// The service and route; nil if there is no record.
        var place: String?
        let lane: String?
        let identity: Identity?

        var isQueued: Bool { if case .queued = name { true } else { false } }
    }

    /// The number of records that are known by their keys after their creation has ended.
    static let limit = 10_000

    private var entries: [String: Entry] = [:]
    /// The keys by their numbers.
    private var numbers: [Int64: String] = [:]
    /// The lanes of records that earlier writes know by another id than the server's, by service and id.
    private var lanes: [String: (lane: String?, identity: Identity?)] = [:]
    /// What is forgotten first: keys in `entries`, and in `lanes`.
    private var ended: [(key: String, isLane: Bool)] = []
    private var firstEnded = 0

    init() {}

    init(stored: [Stored]) {
        for stored in stored {
            enter(stored.key, Entry(name: stored.name, place: stored.place, lane: nil, identity: nil))
            forgetLater(stored.key)
        }
    }

    /// Returns the ids of a service's records that are known by another key.
    func assigned(at path: String, _ route: [String: String]) -> [(key: String, id: ServiceID)] {
        guard !entries.isEmpty else { return [] }
        let place = RecordKey.place(path, route)
        return entries.compactMap { key, entry in
            guard entry.place == place, case .assigned(let id) = entry.name, id.description != key else { return nil }
            return (key, id)
        }
    }

    /// - Parameter creations: Creations that are not queued yet, with the keys of their records.
    init(of creations: [(write: UUID, keys: [String])]) {
        for (write, keys) in creations {
            for key in keys { enter(key, Entry(name: .queued(write), lane: nil, identity: nil)) }
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    // MARK: Records

    /// The record that is known by an id: by its key, or by the server's.
    subscript(id: ServiceID, path: String, route: [String: String]) -> Known? {
        if let key = key(of: id.json), let entry = entries[key] {
            guard entry.place.map({ $0 == RecordKey.place(path, route) }) ?? true else { return nil }
            let id: ServiceID = if case .assigned(let assigned) = entry.name { assigned } else { .string(key) }
            // An id that the app has chosen is the server's.
            let isProvisional = entry.name != .assigned(.string(key))
            return Known(id: id, lane: entry.lane, identity: entry.identity, isProvisional: isProvisional)
        }
        return lanes[RecordKey.text(id, path, route)].map { Known(id: id, lane: $0.lane, identity: $0.identity) }
    }

    /// Whether the record's creation is still queued.
    func isQueued(_ id: ServiceID, _ path: String, _ route: [String: String]) -> Bool {
        guard let key = key(of: id.json), case .queued? = entries[key]?.name else { return false }
        return self[id, path, route] != nil
    }

    /// Adds the records that a queued write creates. If the app has chosen the key as the record's id, it is its name.
    mutating func add(_ write: OutboxWrite, _ options: OutboxOptions) {
        let place = RecordKey.place(write.path, write.route)
        let chosen = options.service(at: write.path).recordIDProperty.flatMap { write.data?[$0]?.string }
        for key in write.provisionalKeys {
            let name = chosen == key ? Name.assigned(.string(key)) : .queued(write.id)
            enter(key, Entry(name: name, place: place, lane: write.lane, identity: write.identity))
        }
        // Later writes to the record must not overtake an earlier one, which knows it by its key.
        guard let id = write.recordID, !write.lane.hasSuffix("#\(id)") else { return }
        if let known = self[id, write.path, write.route], known.identity == write.identity { return }
        addLane(of: id, write)
    }

    /// Records the end of a creation.
    /// - Parameter names: The names by the keys.
    mutating func end(_ write: OutboxWrite, _ names: [String: Name]) {
        for key in write.provisionalKeys where entries[key] != nil {
            let name = names[key] ?? .unknown
            if case .assigned(let id) = name, id.description != key { addLane(of: id, write) }
            entries[key]?.name = name
            forgetLater(key)
        }
    }

    /// Returns the ids of the records that a write has created, by their keys.
    static func ids(of write: OutboxWrite, _ result: JSONValue) -> [String: ServiceID] {
        var ids: [String: ServiceID] = [:]
        for (key, record) in zip(write.provisionalKeys, result.array ?? [result]) {
            let id = write.idProperty.map { record[$0] } ?? record["id"] ?? record["_id"]
            ids[key] = id.flatMap { ServiceID($0) }
        }
        return ids
    }

    private mutating func enter(_ key: String, _ entry: Entry) {
        entries[key] = entry
        if let number = JSONValue.provisionalNumber(for: key).integer { numbers[number] = key }
    }

    private mutating func addLane(of id: ServiceID, _ write: OutboxWrite) {
        let key = RecordKey.text(id, write.path, write.route)
        lanes[key] = (write.lane, write.identity)
        forgetLater(key, isLane: true)
    }

    private mutating func forgetLater(_ key: String, isLane: Bool = false) {
        ended.append((key, isLane))
        while ended.count - firstEnded > 2 * Self.limit {
            let (key, isLane) = ended[firstEnded]
            firstEnded += 1
            if isLane {
                lanes[key] = nil
            } else if let entry = entries[key], !entry.isQueued {
                entries[key] = nil
                if let number = JSONValue.provisionalNumber(for: key).integer { numbers[number] = nil }
            }
        }
        guard firstEnded > Self.limit else { return }
        ended.removeFirst(firstEnded)
        firstEnded = 0
    }
}

// MARK: - Values

extension Names {
    /// Returns the key that a value is, in any form: in capitals, or as the number of a model whose ids are numbers.
    func key(of value: JSONValue) -> String? {
        switch value {
        case .integer(let number): return number < 0 ? numbers[number] : nil
        case .string(let text): return key(of: text)
        default: return nil
        }
    }

    func key(of text: String) -> String? {
        guard !entries.isEmpty else { return nil }
        if text.utf8.first == UInt8(ascii: "-") { return Int64(text).flatMap { numbers[$0] } }
        guard text.utf8.count >= 36 else { return nil }
        let key = text.lowercased()
        return entries[key] == nil ? nil : key
    }

    /// Returns a value with ids in place of keys.
    /// - Parameters:
    ///   - place: Where the value is in the call.
    ///   - missing: Receives the keys without an id.
    func translated(_ value: JSONValue, in place: String = "", _ missing: inout [Missing]) -> JSONValue {
        guard !entries.isEmpty else { return value }
        switch value {
        case .array(let elements): return .array(elements.map { translated($0, in: place, &missing) })
        case .object(let object):
            return .object(
                JSONObject(
                    object.map { name, value in
                        let property = place.isEmpty ? name : "\(place).\(name)"
                        let id = id(of: key(of: name), in: property, &missing)
                        return (id?.description ?? name, translated(value, in: property, &missing))
                    }))
        case .string, .integer: return id(of: key(of: value), in: place, &missing)?.json ?? value
        default: return value
        }
    }

    func translated(_ id: ServiceID, _ missing: inout [Missing]) -> ServiceID {
        self.id(of: key(of: id.json), in: "the id", &missing) ?? id
    }

    func translated(_ route: [String: String], _ missing: inout [Missing]) -> [String: String] {
        guard !entries.isEmpty, !route.isEmpty else { return route }
        var new = route
        for (name, value) in route {
            if let id = id(of: key(of: value), in: "the route's '\(name)'", &missing) { new[name] = id.description }
        }
        return new
    }

    private func id(of key: String?, in property: String, _ missing: inout [Missing]) -> ServiceID? {
        guard let key, let name = entries[key]?.name else { return nil }
        if case .assigned(let id) = name { return id }
        missing.append(Missing(name: name, property: property))
        return nil
    }

    /// Returns a write with ids in place of keys.
    /// - Parameter missing: Receives the keys without an id.
    func translated(_ write: OutboxWrite, _ missing: inout [Missing]) -> OutboxWrite {
        guard !entries.isEmpty else { return write }
        var new = write
        if write.method != .create { new.recordID = write.recordID.map { translated($0, &missing) } }
        new.data = write.data.map { translated($0, in: "data", &missing) }
        if !write.query.isEmpty, let query = translated(.object(write.query.json), in: "query", &missing).object {
            new.query.json = query
        }
        new.route = translated(write.route, &missing)
        return new
    }

    func translated(_ write: OutboxWrite) -> OutboxWrite {
        var missing: [Missing] = []
        return translated(write, &missing)
    }
}
