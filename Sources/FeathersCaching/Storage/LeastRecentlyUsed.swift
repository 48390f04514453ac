/// Values by key in the order of their use. Every operation takes constant time: a dictionary refers to the nodes of a
/// doubly linked list.
struct LeastRecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Node: Sendable {
        let key: Key
        var value: Value
        var newer: Int?
        var older: Int?
    }

    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var places: [Key: Int] = [:]
    private var newest: Int?
    private var oldest: Int?

    var count: Int { places.count }
    var keys: some Collection<Key> { places.keys }

    /// Returns the value of a key without counting as a use.
    func peek(_ key: Key) -> Value? { places[key].flatMap { nodes[$0]?.value } }

    /// Returns the value of a key and makes it the newest.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key], let node = nodes[place] else { return nil }
        if place != newest {
            unlink(node)
            link(node, at: place)
        }
        return node.value
    }

    /// Sets a key's value and makes it the newest.
    /// - Returns: The previous value.
    @discardableResult
    mutating func set(_ value: Value, for key: Key) -> Value? {
        let former = remove(key)
        let place = free.popLast() ?? nodes.count
        if place == nodes.count { nodes.append(nil) }
        places[key] = place
        link(Node(key: key, value: value), at: place)
        return former
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let place = places.removeValue(forKey: key), let node = nodes[place] else { return nil }
        unlink(node)
        nodes[place] = nil
        free.append(place)
        return node.value
    }

    /// The least recently used key.
    var oldestKey: Key? { oldest.flatMap { nodes[$0]?.key } }

    private mutating func link(_ node: Node, at place: Int) {
        var node = node
        (node.newer, node.older) = (nil, newest)
        nodes[place] = node
        if let newest { nodes[newest]?.newer = place }
        newest = place
        if oldest == nil { oldest = place }
    }

    private mutating func unlink(_ node: Node) {
        if let newer = node.newer { nodes[newer]?.older = node.older } else { newest = node.older }
        if let older = node.older { nodes[older]?.newer = node.newer } else { oldest = node.newer }
    }
}
