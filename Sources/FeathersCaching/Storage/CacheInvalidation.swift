/// Which groups of answers were invalidated, and which answers may therefore no longer be read or written.
///
/// An invalidation has two halves. It counts at once, by ``invalidate(_:)``; stored answers are removed later, perhaps repeatedly, since storages are slow
/// and may fail. In between, reads of the group are misses. A read that began before an invalidation carries an older ``Stamp`` and is not written; where
/// its write was already under way, the removal does not count as done. A pure state machine: it reads and writes no storage.
struct CacheInvalidation: Sendable {
    /// The state of a group when a read began.
    struct Stamp: Sendable, Hashable {
        fileprivate let all: Int
        fileprivate let group: Int
    }

    /// What to remove from the storage.
    enum Removal: Sendable, Equatable {
        case group(String, version: Int)
        case all(version: Int)
    }

    private struct Scope: Sendable {
        var version = 0
        /// Whether the storage may hold answers from before the last invalidation.
        var isStale = false
        /// The writes under way by the version they began under.
        var writes: [Int: Int] = [:]

        mutating func invalidate(_ version: Int) {
            self.version = version
            isStale = true
        }

        /// Whether it holds nothing but its version.
        var isIdle: Bool { !isStale && writes.isEmpty }

        mutating func removed(_ version: Int) {
            // An older write may still land after the removal.
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

    /// The stamp of a group; nil if the group must not be read before something is removed.
    func readableStamp(of group: String) -> Stamp? { all.isStale || groups[group]?.isStale == true ? nil : stamp(of: group) }

    mutating func invalidate(_ group: String) {
        lastVersion += 1
        groups[group, default: Scope()].invalidate(lastVersion)
        if groups.count > Self.mostGroups { forgetIdle() }
    }

    mutating func invalidateAll() {
        lastVersion += 1
        all.invalidate(lastVersion)
    }

    /// Keeps the table bounded, whatever names a server sends. The only cost: answers in flight of a forgotten group are not kept.
    private mutating func forgetIdle() {
        othersVersion = lastVersion
        groups = groups.filter { !$0.value.isIdle }
        guard groups.count > Self.mostGroups else { return }
        invalidateAll()
        groups = groups.filter { !$0.value.writes.isEmpty }
        othersVersion = lastVersion
    }

    /// Registers a write that is about to begin.
    /// - Returns: whether it may begin: false where the group was invalidated after the stamp.
    mutating func beginWrite(in group: String, _ stamp: Stamp) -> Bool {
        guard stamp == self.stamp(of: group) else { return false }
        all.writes[stamp.all, default: 0] += 1
        groups[group, default: Scope(version: othersVersion)].writes[stamp.group, default: 0] += 1
        return true
    }

    mutating func endWrite(in group: String, _ stamp: Stamp) {
        all.endWrite(stamp.all)
        groups[group]?.endWrite(stamp.group)
    }

    /// What to remove before a group may be read.
    func removals(for group: String) -> [Removal] {
        var removals: [Removal] = []
        if all.isStale { removals.append(.all(version: all.version)) }
        if let scope = groups[group], scope.isStale { removals.append(.group(group, version: scope.version)) }
        return removals
    }

    /// Everything to remove.
    var removals: [Removal] {
        var removals: [Removal] = all.isStale ? [.all(version: all.version)] : []
        for (group, scope) in groups where scope.isStale { removals.append(.group(group, version: scope.version)) }
        return removals
    }

    /// The storage has completed a removal.
    mutating func removed(_ removal: Removal) {
        switch removal {
        case .all(let version): all.removed(version)
        case .group(let group, let version): groups[group]?.removed(version)
        }
    }

    /// An invalidation overtook a read of the storage. Where storages are layered, the read may have put back what was removed.
    mutating func distrust(_ group: String) { groups[group, default: Scope(version: othersVersion)].isStale = true }
}
