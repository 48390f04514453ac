/// Values by key, of which the oldest are forgotten: at least the last `limit` values are kept.
struct RecentValues<Value: Sendable>: Sendable {
    let limit: Int
    private var newer: [String: Value] = [:]
    private var older: [String: Value] = [:]

    init(limit: Int) { self.limit = limit }

    /// All values, the older ones first.
    var generations: [[String: Value]] { [older, newer] }

    subscript(key: String) -> Value? { newer[key] ?? older[key] }

    /// Adds values that are kept or forgotten together.
    mutating func add(_ values: [String: Value]) {
        newer.merge(values) { _, new in new }
        // Many at once, because removing single values means searching for the oldest.
        if newer.count >= limit { (newer, older) = ([:], newer) }
    }

    mutating func take(_ key: String) -> Value? {
        let older = older.removeValue(forKey: key)
        return newer.removeValue(forKey: key) ?? older
    }
}
