extension DecodingNode {
    /// The value of a property; nil where there is none.
    @inline(__always)
    func value(of property: String) -> DecodingSource? {
        guard let members, let position = find(property, in: members) else { return nil }
        expectedPosition = members.position(after: position)
        return members.value(at: position)
    }

    /// Where the value of a property stands among the members.
    func position(of property: String) -> Int? {
        members.flatMap { find(property, in: $0) }
    }

    @inline(__always)
    private func find(_ property: String, in members: DecodingMembers) -> Int? {
        guard let keys else { return find(key: property, in: members) }
        return find(key: keys.key(of: property), in: members) ?? position(of: property, readBy: keys, in: members)
    }

    /// Records of a list are mostly alike: what is not where it is expected may be where the record before had it.
    @inline(__always)
    private func find(key: String, in members: DecodingMembers) -> Int? {
        let lookUp = lookUps
        lookUps = lookUp &+ 1
        if members.hasMember(key, at: expectedPosition) { return expectedPosition }
        return findElsewhere(key, lookUp, in: members)
    }

    private func findElsewhere(_ key: String, _ lookUp: Int, in members: DecodingMembers) -> Int? {
        // What is inside an object has siblings of other kinds.
        guard let parent, parent.members == nil else { return members.position(of: key) }
        let positions = parent.positionsInside
        if lookUp < positions.count, members.hasMember(key, at: positions[lookUp]) { return positions[lookUp] }
        guard let position = members.position(of: key) else { return nil }
        while parent.positionsInside.count <= lookUp { parent.positionsInside.append(position) }
        parent.positionsInside[lookUp] = position
        return position
    }

    /// Where a member stands that is written differently from how this side writes it.
    private func position(of property: String, readBy keys: CodedKeys, in members: DecodingMembers) -> Int? {
        if positionsByProperty == nil {
            positionsByProperty = Dictionary(members.names.map { (keys.property(of: $0.name), $0.position) }) { first, _ in first }
        }
        return positionsByProperty?[property]
    }
}
