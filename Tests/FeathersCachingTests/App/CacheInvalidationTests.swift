import Testing

@testable import FeathersCaching

@Suite("The state of invalidation")
struct CacheInvalidationTests {
    private var state = CacheInvalidation()

    @Test("An invalidated group is stale until it is removed; others are not")
    mutating func stale() {
        state.invalidate("a")
        #expect(state.isStale("a") && !state.isStale("b"))
        #expect(state.removals(for: "b").isEmpty)
        for removal in state.removals { state.removed(removal) }
        #expect(!state.isStale("a"))
    }

    @Test("All groups are stale until everything is removed")
    mutating func all() {
        state.invalidateAll()
        #expect(state.isStale("a") && state.isStale("never seen"))
        for removal in state.removals(for: "a") { state.removed(removal) }
        #expect(!state.isStale("a"))
    }

    @Test("A write begun before an invalidation is refused after it, by group and by all")
    mutating func refused() {
        for invalidate in [{ $0.invalidate("a") }, { $0.invalidateAll() }] as [(inout CacheInvalidation) -> Void] {
            let stamp = state.stamp(of: "a")
            invalidate(&state)
            let isOldAllowed = state.beginWrite(in: "a", stamp)
            let isNewAllowed = state.beginWrite(in: "a", state.stamp(of: "a"))
            #expect((isOldAllowed, isNewAllowed) == (false, true))
        }
    }

    @Test("An older write under way keeps a group stale through the removal; a newer one does not")
    mutating func overtaken() {
        let old = state.stamp(of: "a")
        _ = state.beginWrite(in: "a", old)
        state.invalidate("a")
        for removal in state.removals { state.removed(removal) }
        #expect(state.isStale("a"))
        state.endWrite(in: "a", old)
        #expect(state.isStale("a"))
        let new = state.stamp(of: "a")
        _ = state.beginWrite(in: "a", new)
        for removal in state.removals { state.removed(removal) }
        #expect(!state.isStale("a"))
        state.endWrite(in: "a", new)
        #expect(!state.isStale("a"))
    }

    @Test("A removal for an invalidation does not count for the next one")
    mutating func outrun() {
        state.invalidate("a")
        let first = state.removals
        state.invalidate("a")
        for removal in first { state.removed(removal) }
        #expect(state.isStale("a"))
    }

    @Test("However many groups there are, the table stays small and no older write is let through")
    mutating func bounded() {
        let stamp = state.stamp(of: "a")
        let writing = state.stamp(of: "b")
        _ = state.beginWrite(in: "b", writing)
        state.invalidate("a")
        for number in 0..<3000 {
            if number % 2 == 0 { for removal in state.removals { state.removed(removal) } }
            state.invalidate("group \(number)")
        }
        let isOldAllowed = state.beginWrite(in: "a", stamp)
        #expect(!isOldAllowed)
        #expect(state.removals.count <= 1001)
        // Without removals the whole storage becomes stale in the place of thousands of groups.
        for number in 0..<3000 { state.invalidate("more \(number)") }
        #expect(state.removals.count <= 1001)
        #expect(state.isStale("a") && state.isStale("more 0"))
        // The write that was under way all the time holds back the end of all that.
        for removal in state.removals { state.removed(removal) }
        #expect(state.isStale("b"))
        state.endWrite(in: "b", writing)
        for removal in state.removals { state.removed(removal) }
        #expect(!state.isStale("b"))
        let isAllowed = state.beginWrite(in: "a", state.stamp(of: "a"))
        #expect(isAllowed)
    }

    @Test("A group that is distrusted is removed again, though nothing was invalidated")
    mutating func distrusted() {
        let stamp = state.stamp(of: "a")
        state.distrust("a")
        #expect(state.isStale("a"))
        #expect(state.stamp(of: "a") == stamp)
        for removal in state.removals { state.removed(removal) }
        #expect(!state.isStale("a"))
    }
}

extension CacheInvalidation {
    fileprivate func isStale(_ group: String) -> Bool { readableStamp(of: group) == nil }
}
