/// The keys under which created records were shown first, by the keys that the server assigned.
///
/// A record keeps the first one in snapshots, so that a row of a screen stays the same row.
struct FirstKeys: Sendable {
    private var firstKeys: [String: String] = [:]

    var count: Int { firstKeys.count }

    /// The key under which a record is shown.
    func shown(_ key: String) -> String { firstKeys[key] ?? key }

    /// Gives a record another key.
    mutating func rename(_ old: String, to key: String) { firstKeys[key] = shown(old) }

    /// Forgets the names of records that do not exist anymore.
    mutating func removeAll(where isGone: (String) -> Bool) { firstKeys = firstKeys.filter { !isGone($0.key) } }
}
