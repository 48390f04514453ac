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
