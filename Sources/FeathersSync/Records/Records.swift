import FeathersCore

/// What the server last reported of the records of a service, route and sign-in: one state for each record.
///
/// Windows and writes refer to its states. Unless a record's version tells it, a rule says which of two states is newer:
///
/// * **Hold.** After the response to an own write, the record is as the response says, and events of it wait until the
///   write's own event arrives, or a fetch that was sent later answers.
struct Records: Sendable {
    /// What taking a report has done.
    enum Outcome: Sendable, Equatable {
        /// The record was in this state already.
        case same
        case changed
        /// The report waits for a fetch, because it may be older or newer than what is known.
        case held
        /// What is known is newer.
        case older
    }

    /// How a state follows what is known of its record.
    enum Order: Sendable {
        case older, equal, newer
        /// Nothing is known, or the versions cannot be compared.
        case unknown
    }

    /// The last own response of a record whose event has not arrived.
    struct Hold: Sendable {
        let result: Report
        /// The store's time at the response.
        let time: Int
    }

    /// The states that are kept of records to which nothing refers, if anything may ask for them.
    private static let unusedLimit = 10_000

    private var states: [String: Record] = [:]
    /// The number of the last state.
    private(set) var number = 0
    /// The property whose value only grows; nil if the app has not named one.
    let version: String?
    /// Whether states are stored on this device.
    let isStored: Bool
    /// The records of writes.
    private var written: Set<String> = []
    /// The records whose last state is not stored yet.
    private var unstored: Set<String> = []
    private(set) var holds: [String: Hold] = [:]
    private(set) var firstKeys = FirstKeys()

    /// Shows records under the keys by which they were known before the server assigned their ids.
    mutating func show(_ names: [(key: String, id: ServiceID)]) {
        for (key, id) in names { firstKeys.rename(key, to: id.key) }
    }

    init(version: String? = nil, isStored: Bool = false) { (self.version, self.isStored) = (version, isStored) }

    /// The last state of a record, also if it was removed; nil if nothing is known.
    subscript(key: String) -> Record? { states[key] }

    /// The last state of the record of a write; nil if it is not known.
    func ofWrite(_ key: String) -> JSONValue? { written.contains(key) ? states[key]?.value : .none }

    func isWritten(_ key: String) -> Bool { written.contains(key) }

    var hasWritten: Bool { !written.isEmpty }

    /// Whether states are kept of records to which nothing refers: versions compare them, or they are stored.
    var keepsUnused: Bool { version != nil || isStored }

    // MARK: Taking states

    /// Returns a new state of a record, which is not taken yet: the one that is known if nothing has changed.
    mutating func state(_ report: Report) -> Record {
        if let known = states[report.key], known.isRemoved == (report.record == nil), known.value == report.record {
            return known
        }
        number += 1
        return Record(report, number: number)
    }

    /// Takes a state of a record.
    mutating func put(_ state: Record) { states[state.key] = state }

    /// Takes a state that is not stored yet.
    mutating func changed(_ key: String) { if isStored { unstored.insert(key) } }

    /// Judges a report: whether it is newer than what is known.
    func outcome(of report: Report, _ order: Order) -> Outcome {
        if order == .older { return .older }
        // An event that repeats after a removal may be of a record that was created again.
        let isHeld = holds[report.key].map { $0.result != report } ?? false
        let isRepeated = order == .equal && report.record != nil && states[report.key]?.isRemoved == true
        if order != .newer, isHeld || isRepeated { return .held }
        guard let known = states[report.key] else { return .changed }
        return known.isRemoved == (report.record == nil) && known.value == report.record ? .same : .changed
    }

    /// Returns how a state follows what is known of its record. Without declared versions, that is unknown.
    func order(of report: Report) -> Order {
        guard let version, let new = report.data?[version], let old = states[report.key]?.data?[version],
            let order = new.versionOrder(to: old)
        else { return .unknown }
        return order < 0 ? .older : order > 0 ? .newer : .equal
    }

    // MARK: Holds

    /// Holds a response until its own event arrives, or a fetch that is sent later answers.
    mutating func hold(_ result: Report, at time: Int) { holds[result.key] = Hold(result: result, time: time) }

    /// - Returns: Whether the record was held.
    @discardableResult
    mutating func endHold(_ key: String) -> Bool { holds.removeValue(forKey: key) != nil }

    mutating func endHolds() { holds = [:] }

    // MARK: Uses

    /// Keeps the state of the record of a write.
    mutating func keepWritten(_ key: String) { written.insert(key) }

    mutating func releaseWritten(_ key: String) { written.remove(key) }

    mutating func releaseWritten(except used: Set<String>) { written.formIntersection(used) }

    mutating func rename(_ old: String, to key: String) {
        firstKeys.rename(old, to: key)
        written.remove(old)
    }

    /// Forgets the records to which nothing refers, once there are many.
    /// - Parameters:
    ///   - count: About how many records windows have.
    ///   - isUsed: Whether a window has the record.
    mutating func forgetUnused(beside count: Int, _ isUsed: (String) -> Bool) {
        let most = 2 * (count + written.count) + (keepsUnused ? 2 * Self.unusedLimit : 1_000)
        guard states.count > most || firstKeys.count > most else { return }
        let first = keepsUnused ? number - Self.unusedLimit : .max
        states = states.filter { $0.value.number > first || written.contains($0.key) || isUsed($0.key) }
        unstored.formIntersection(states.keys)
        firstKeys.removeAll { states[$0] == nil }
    }

    /// Forgets everything the server has reported.
    mutating func clear() {
        (states, written, unstored, holds) = ([:], [], [], [:])
    }

    // MARK: Disk

    var hasUnstored: Bool { !unstored.isEmpty }
    var unstoredKeys: Set<String> { unstored }

    /// Takes the states that are not stored yet.
    /// - Parameter doubtful: The records whose states may be older than a stored response. They wait for the fetch that
    ///   decides.
    mutating func takeUnstored(except doubtful: Set<String>) -> [Report] {
        let taken = unstored.subtracting(doubtful)
        unstored.formIntersection(doubtful)
        return taken.compactMap { key in
            states[key].map { Report(name: $0.isRemoved ? .removed : .patched, key: key, data: $0.data) }
        }
    }

    /// Gives back what could not be stored.
    mutating func putBack(_ keys: some Sequence<String>) { unstored.formUnion(keys) }
}
