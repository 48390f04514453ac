import FeathersCore
import Foundation

/// The queued writes that wait for others: for the creation of a record to which they refer, in their data, as a whole
/// JSON value or the name of a property, in their query or route, or by their record's id; and for the write before them
/// in their group.
///
/// A write that refers to a creation gets the ids of its records after it. If the server does not say the id of what it
/// has created, the write needs a decision.
struct OutboxReferences: Sendable {
    /// Why a write cannot be executed without another one.
    enum Dependence: Sendable {
        /// It refers to a record that the other one creates.
        case reference
        /// It comes later in the group of the other one.
        case group
    }

    private struct Creation: Sendable {
        let id: UUID
        /// The user who waits for the sign-in, if the outbox chose the record's id: to others, it is an id like any other.
        let owner: Identity?
    }

    /// The creations by the keys of their records, and by their numbers.
    private var creations: [JSONValue: Creation] = [:]
    /// The writes that refer to each creation.
    private var referring: [UUID: Set<UUID>] = [:]
    /// The creations to which each write refers.
    private var creationsOf: [UUID: Set<UUID>] = [:]
    /// The pending write before each one in its group, and the one after it.
    private var (previous, next): ([UUID: UUID], [UUID: UUID]) = ([:], [:])
    /// - Parameter previous: The write before it in its group, if it is still pending.
    mutating func add(_ write: OutboxWrite, after previous: UUID? = nil) {
        refer(write.id, to: references(of: write))
        addCreations(of: write)
        guard let previous else { return }
        (self.previous[write.id], next[previous]) = (previous, write.id)
    }

    /// - Returns: The writes that waited for it.
    @discardableResult
    mutating func remove(_ write: OutboxWrite) -> Set<UUID> {
        forgetReferences(of: write.id)
        for text in write.provisionalKeys { for form in JSONValue.provisionalForms(of: text) { creations[form] = nil } }
        var writes = referring.removeValue(forKey: write.id) ?? []
        for id in writes {
            creationsOf[id]?.remove(write.id)
            if creationsOf[id]?.isEmpty == true { creationsOf[id] = nil }
        }
        if let previous = previous.removeValue(forKey: write.id) { next[previous] = nil }
        if let next = next.removeValue(forKey: write.id) {
            previous[next] = nil
            writes.insert(next)
        }
        return writes
    }

    /// Replaces a write. What waits for it continues to wait.
    mutating func replace(_ old: OutboxWrite, with new: OutboxWrite) {
        forgetReferences(of: old.id)
        for text in old.provisionalKeys { for form in JSONValue.provisionalForms(of: text) { creations[form] = nil } }
        refer(new.id, to: references(of: new))
        addCreations(of: new)
    }

    /// Lets a write wait for creations.
    mutating func refer(_ id: UUID, to found: Set<UUID>) {
        guard !found.isEmpty else { return }
        creationsOf[id, default: []].formUnion(found)
        for creation in found { referring[creation, default: []].insert(id) }
    }

    private mutating func forgetReferences(of id: UUID) {
        for creation in creationsOf.removeValue(forKey: id) ?? [] { referring[creation]?.remove(id) }
    }

    private mutating func addCreations(of write: OutboxWrite) {
        for text in write.provisionalKeys {
            let isChosen = write.data?.object?.contains { $0.value == .string(text) } ?? false
            let creation = Creation(id: write.id, owner: isChosen ? write.identity : nil)
            for form in JSONValue.provisionalForms(of: text) { creations[form] = creation }
        }
    }

    /// Whether a write waits for another one.
    func isWaiting(_ id: UUID) -> Bool { creationsOf[id] != nil || previous[id] != nil }

    /// Returns the writes for which a write waits.
    func awaited(by id: UUID) -> Set<UUID> {
        (creationsOf[id] ?? []).union(previous[id].map { [$0] } ?? [])
    }

    /// Whether another pending write comes right before or after a write in its group.
    func isGrouped(_ id: UUID) -> Bool { previous[id] != nil || next[id] != nil }

    /// Returns the writes that refer to a creation.
    func writes(referringTo id: UUID) -> Set<UUID> { referring[id] ?? [] }

    /// Returns the writes that cannot be executed as they were made once a write is discarded: those after it in its
    /// group, those that refer to its record, and so on.
    /// - Parameter isGone: Whether the record does not exist that the write creates.
    func dependents(of id: UUID, isGone: Bool) -> [UUID: Dependence] {
        var found: [UUID: Dependence] = [:]
        var discarded = [(id: id, isGone: isGone)]
        func add(_ write: UUID, _ dependence: Dependence) {
            guard write != id, found[write] == nil else { return }
            found[write] = dependence
            // None of them was sent, because each waits for one that was discarded.
            discarded.append((write, true))
        }
        while let (write, isGone) = discarded.popLast() {
            if let next = next[write] { add(next, .group) }
            if isGone { for write in referring[write] ?? [] { add(write, .reference) } }
        }
        return found
    }

    /// Returns the pending creations to which a write refers, without itself.
    func references(of write: OutboxWrite) -> Set<UUID> {
        guard !creations.isEmpty else { return [] }
        var found: Set<UUID> = []
        func add(_ value: JSONValue) {
            guard let creation = creations[value.keyForm] else { return }
            if creation.owner == nil || creation.owner == write.identity { found.insert(creation.id) }
        }
        if write.method != .create, let id = write.recordID?.json { add(id) }
        write.data?.forEachValue(add)
        JSONValue.object(write.query.json).forEachValue(add)
        for value in write.route.values { add(.string(value)) }
        found.remove(write.id)
        return found
    }
}

extension JSONValue {
    /// The forms in which screens show a provisional id: as text, and as a number for models whose id is one.
    static func provisionalForms(of text: String) -> [JSONValue] { [.string(text), .provisionalNumber(for: text)] }

    /// The form of a key in which it is found: without capitals, and a number as such.
    fileprivate var keyForm: JSONValue {
        guard case .string(let text) = self else { return self }
        if text.utf8.first == UInt8(ascii: "-"), let number = Int64(text) { return .integer(number) }
        return text.utf8.count >= 36 ? .string(text.lowercased()) : self
    }

    /// Calls a function for each text and number in this value, and for each name of a property.
    fileprivate func forEachValue(_ body: (JSONValue) -> Void) {
        switch self {
        case .array(let elements): for element in elements { element.forEachValue(body) }
        case .object(let object):
            for (name, value) in object {
                body(.string(name))
                value.forEachValue(body)
            }
        case .string, .integer: body(self)
        default: break
        }
    }
}
