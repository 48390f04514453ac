/// The lanes whose first write may be sent, in the order they became so.
struct ReadyLanes: Sendable {
    private var lanes: [String] = []
    private var members: Set<String> = []
    /// How many of the lanes at the beginning are gone.
    private var taken = 0

    mutating func append(_ lane: String) {
        if members.insert(lane).inserted { lanes.append(lane) }
    }

    /// Takes a lane out wherever it stands; its place is passed over later.
    mutating func remove(_ lane: String) {
        members.remove(lane)
    }

    mutating func popFirst() -> String? {
        while taken < lanes.count {
            let lane = lanes[taken]
            taken += 1
            if taken > 64, taken * 2 > lanes.count {
                lanes.removeFirst(taken)
                taken = 0
            }
            if members.remove(lane) != nil { return lane }
        }
        lanes = []
        taken = 0
        return nil
    }
}
