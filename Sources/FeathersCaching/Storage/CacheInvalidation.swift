/// Tracks which groups were invalidated, and therefore which entries must not be read or written.
///
/// An invalidation has two parts. It takes effect immediately, with ``invalidate(_:)``; stored entries are removed
/// later, possibly in several tries, because storages are slow and may fail. In between, reads of the group are misses.
/// A read that began before an invalidation has an older ``Stamp`` and is not written. If its write was already in
/// progress, the removal is not considered complete. A state machine without I/O.
struct CacheInvalidation: Sendable {
    /// The state of a group when a read began.
    struct Stamp: Sendable, Hashable {
        fileprivate let all: Int
        fileprivate let group: Int
    }

    /// Entries to remove from the storage.
    enum Removal: Sendable, Equatable {
        case group(String, version: Int)
        case all(version: Int)
    }

    private struct Scope: Sendable {
        var version = 0
        /// Whether the storage may contain entries from before the last invalidation.
        var isStale = false
        /// The number of writes in progress, by the version under which they began.
        var writes: [Int: Int] = [:]

        mutating func invalidate(_ version: Int) {
            self.version = version
            isStale = true
        }

        /// Whether there is no state except the version.
        var isIdle: Bool { !isStale && writes.isEmpty }

        mutating func removed(_ version: Int) {
            // An older write may still arrive after the removal.
            if version == self.version, writes.keys.allSatisfy({ $0 == version }) { isStale = false }
        }

        mutating func endWrite(_ version: Int) {
            guard let count = writes[version] else { return }
            writes[version] = count > 1 ? count - 1 : nil
        }
    }

    private static let mostGroups = 1000

    private var all = Scope()
    private var groups: [String: Scope] = [:]
    private var lastVersion = 0
    /// The version of all other groups: none of them was invalidated later.
    private var othersVersion = 0

    func stamp(of group: String) -> Stamp { Stamp(all: all.version, group: groups[group]?.version ?? othersVersion) }

    /// Returns the stamp of a group; nil if the group must not be read until entries have been removed.
    func readableStamp(of group: String) -> Stamp? {
        all.isStale || groups[group]?.isStale == true ? nil : stamp(of: group)
    }

    mutating func invalidate(_ group: String) {
        lastVersion += 1
        groups[group, default: Scope()].invalidate(lastVersion)
        if groups.count > Self.mostGroups { forgetIdle() }
    }

    mutating func invalidateAll() {
        lastVersion += 1
        all.invalidate(lastVersion)
    }

    /// Bounds the table, regardless of the names a server sends. The only cost: responses in flight for a forgotten
    /// group are not cached.
    private mutating func forgetIdle() {
        othersVersion = lastVersion
        groups = groups.filter { !$0.value.isIdle }
        guard groups.count > Self.mostGroups else { return }
        invalidateAll()
        groups = groups.filter { !$0.value.writes.isEmpty }
        othersVersion = lastVersion
    }

    /// Registers a write that is about to begin.
    /// - Returns: Whether the write may begin; `false` if the group was invalidated after the stamp.
    mutating func beginWrite(in group: String, _ stamp: Stamp) -> Bool {
        guard stamp == self.stamp(of: group) else { return false }
        all.writes[stamp.all, default: 0] += 1
        groups[group, default: Scope(version: othersVersion)].writes[stamp.group, default: 0] += 1
        return true
    }

    mutating func endWrite(in group: String, _ stamp: Stamp) {
        all.endWrite(stamp.all)
        groups[group]?.endWrite(stamp.group)
        // Groups are paths, which may contain ids: one that was never invalidated leaves nothing behind.
        if let scope = groups[group], scope.isIdle, scope.version == othersVersion { groups[group] = nil }
    }

    /// Returns the removals that are needed before a group may be read.
    func removals(for group: String) -> [Removal] {
        var removals: [Removal] = []
        if all.isStale { removals.append(.all(version: all.version)) }
        if let scope = groups[group], scope.isStale { removals.append(.group(group, version: scope.version)) }
        return removals
    }

    /// All pending removals.
    var removals: [Removal] {
        var removals: [Removal] = all.isStale ? [.all(version: all.version)] : []
        for (group, scope) in groups where scope.isStale { removals.append(.group(group, version: scope.version)) }
        return removals
    }

    /// Records that the storage has completed a removal.
    mutating func removed(_ removal: Removal) {
        switch removal {
        case .all(let version): all.removed(version)
        case .group(let group, let version): groups[group]?.removed(version)
        }
    }

    /// Records that an invalidation overtook a read of the storage. If storages are layered, the read may have restored
    /// a removed entry.
    mutating func distrust(_ group: String) { groups[group, default: Scope(version: othersVersion)].isStale = true }
}
