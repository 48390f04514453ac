import FeathersCore
import Foundation

@testable import FeathersSync

/// What the app of a history has written: what was meant, and by whom.
struct LocalWrites: Sendable {
    private struct Creation: Sendable {
        let provisional: String
        let place: LocalPlace
        var owner: String
        /// The keys under which it was sent.
        var keys: Set<String>
        var isDiscarded = false
    }

    /// The writes that have neither been executed nor discarded, and whose they are.
    private(set) var accepted: [UUID: String] = [:]
    /// The record that each write is for, as the app named it.
    private var targets: [UUID: ServiceID] = [:]
    /// The record to which the data with each mark refers.
    private var references: [Int64: JSONValue] = [:]
    private var creations: [UUID: Creation] = [:]
    /// Those of this process, in their order.
    private var recent: [UUID] = []

    mutating func accept(
        _ id: UUID, of user: String, target: ServiceID?, _ data: JSONObject, at place: LocalPlace
    ) {
        accepted[id] = user
        if let target { targets[id] = target }
        if let mark = data["mark"]?.integer { references[mark] = data["ref"] ?? .null }
    }

    mutating func created(_ write: OutboxWrite, at place: LocalPlace, of user: String) {
        // An id that the app chose is no provisional one.
        guard write.data?["id"] == nil else { return }
        recent.append(write.id)
        creations[write.id] = Creation(
            provisional: write.provisionalKey(), place: place, owner: user, keys: [write.key.text])
    }

    /// Notes that a write is sent under a key, which changes with its data.
    mutating func sent(_ id: UUID, key: String) { creations[id]?.keys.insert(key) }

    mutating func ended(_ id: UUID) { accepted[id] = nil }

    mutating func discarded(_ id: UUID) {
        accepted[id] = nil
        creations[id]?.isDiscarded = true
    }

    /// The next user takes over what was written while no one was signed in.
    mutating func takeOver(by user: String) {
        for (id, owner) in accepted where owner == "nobody" { accepted[id] = user }
        for id in recent where creations[id]?.owner == "nobody" { creations[id]?.owner = user }
    }

    /// With the process, its forms are gone.
    mutating func endProcess() { recent = [] }

    /// The provisional ids of records that were not discarded.
    func held(at place: LocalPlace, by user: String) -> [ServiceID] {
        recent.compactMap { creations[$0] }.filter { $0.place == place && $0.owner == user && !$0.isDiscarded }
            .map { .string($0.provisional) }
    }

    /// The provisional id that a text contains.
    func provisionalID(in text: String) -> String? {
        creations.values.map(\.provisional).filter(text.contains).min()
    }

    /// The server's id of a record that the app names.
    /// - Returns: Nil if the server does not have it yet.
    func id(of name: JSONValue, on server: LocalServer) -> ServiceID? {
        guard let creation = creations.values.first(where: { .string($0.provisional) == name }) else {
            return ServiceID(name)
        }
        return creation.keys.compactMap { server.created[$0] }.first
    }

    /// Returns why a call is not what was meant; nil if it is.
    func fault(of call: HeldTransport.Call, _ write: OutboxWrite, on server: LocalServer) -> String? {
        if let owner = accepted[write.id], owner != call.user { return "of \(owner) was sent as \(call.user)" }
        if let target = targets[write.id], let id = self.id(of: target.json, on: server), id != call.request.id {
            return "to \(target), which is \(id), was sent for another record"
        }
        guard let data = call.request.data, let mark = data["mark"]?.integer, let reference = references[mark],
            !reference.isNull, let id = id(of: reference, on: server), let sent = data["ref"], sent != id.json
        else { return nil }
        return "refers to \(reference), which is \(id), but was sent for \(sent)"
    }
}
