import FeathersCore
import Foundation

/// The queued writes that refer to the records of queued creations: in their data, as a whole JSON value, or by their
/// record's id.
///
/// Such a write waits for the creation and is then rewritten, so that no provisional id leaves the device. If the server
/// does not say the id of what it has created, the write needs a decision.
struct OutboxReferences: Sendable {
    /// The creations by the provisional ids of their records, as text and as a number.
    private var creations: [JSONValue: UUID] = [:]
    /// The writes that refer to each creation.
    private var referring: [UUID: Set<UUID>] = [:]
    /// The creations to which each write refers.
    private var creationsOf: [UUID: Set<UUID>] = [:]
    /// The writes that refer to a record whose id is not known, although it was created.
    private(set) var orphans: Set<UUID> = []

    mutating func add(_ write: OutboxWrite) {
        let found = references(of: write)
        if !found.isEmpty { creationsOf[write.id] = found }
        for creation in found { referring[creation, default: []].insert(write.id) }
        for text in write.provisionalKeys {
            for form in JSONValue.provisionalForms(of: text) { creations[form] = write.id }
        }
    }

    /// - Parameter isNamed: Whether the ids of the records are known that the write has created.
    /// - Returns: The writes that refer to it.
    @discardableResult
    mutating func remove(_ write: OutboxWrite, isNamed: Bool = true) -> Set<UUID> {
        orphans.remove(write.id)
        for creation in creationsOf.removeValue(forKey: write.id) ?? [] { referring[creation]?.remove(write.id) }
        for text in write.provisionalKeys { for form in JSONValue.provisionalForms(of: text) { creations[form] = nil } }
        let writes = referring.removeValue(forKey: write.id) ?? []
        if !isNamed { orphans.formUnion(writes) }
        for id in writes {
            creationsOf[id]?.remove(write.id)
            if creationsOf[id]?.isEmpty == true { creationsOf[id] = nil }
        }
        return writes
    }

    /// Whether a write refers to a record that has yet to be created.
    func isWaiting(_ id: UUID) -> Bool { creationsOf[id] != nil }

    /// Returns the writes that refer to a creation.
    func writes(referringTo id: UUID) -> Set<UUID> { referring[id] ?? [] }

    /// Returns the writes that cannot be executed without a creation: those that refer to it, and so on.
    func dependents(of id: UUID) -> Set<UUID> {
        var (found, next) = (Set<UUID>(), [id])
        while let creation = next.popLast() {
            for write in referring[creation] ?? [] where found.insert(write).inserted { next.append(write) }
        }
        return found
    }

    private func references(of write: OutboxWrite) -> Set<UUID> {
        guard !creations.isEmpty else { return [] }
        var found: Set<UUID> = []
        if write.method != .create, let id = write.recordID?.json, let creation = creations[id] {
            found.insert(creation)
        }
        write.data?.forEachValue { if let creation = creations[$0] { found.insert(creation) } }
        return found
    }
}

extension JSONValue {
    /// The forms in which screens show a provisional id: as text, and as a number for models whose id is one.
    static func provisionalForms(of text: String) -> [JSONValue] { [.string(text), .provisionalNumber(for: text)] }

    /// Calls a function for each text and number in this value.
    fileprivate func forEachValue(_ body: (JSONValue) -> Void) {
        switch self {
        case .array(let elements): for element in elements { element.forEachValue(body) }
        case .object(let object): for (_, value) in object { value.forEachValue(body) }
        case .string, .integer: body(self)
        default: break
        }
    }

    /// Returns this value with some of the texts and numbers in it replaced.
    func replacing(_ replacement: (JSONValue) -> JSONValue?) -> JSONValue {
        switch self {
        case .array(let elements): return .array(elements.map { $0.replacing(replacement) })
        case .object(var object):
            for (name, value) in object {
                switch value {
                case .array, .object: object[name] = value.replacing(replacement)
                case .string, .integer: if let new = replacement(value) { object[name] = new }
                default: break
                }
            }
            return .object(object)
        case .string, .integer: return replacement(self) ?? self
        default: return self
        }
    }
}

extension OutboxQueue {
    /// Returns the data of the writes that refer to a creation, with the ids that the server has assigned.
    /// - Parameter made: The ids by the provisional ones.
    func rewritten(by made: [String: ServiceID], of creation: UUID) -> [UUID: JSONValue] {
        guard !made.isEmpty else { return [:] }
        var ids: [JSONValue: JSONValue] = [:]
        for (text, id) in made { for form in JSONValue.provisionalForms(of: text) { ids[form] = id.json } }
        return references.writes(referringTo: creation).reduce(into: [:]) { data, id in
            guard let old = items[id]?.write.data else { return }
            let new = old.replacing { ids[$0] }
            if new != old { data[id] = new }
        }
    }

    /// Sets the data of writes, which keep their keys.
    /// - Returns: The changed writes.
    mutating func rewrite(_ data: [UUID: JSONValue]) -> [OutboxWrite] {
        data.compactMap { id, data in setData(data, of: id) }
    }
}
