/// What makes a local-first history different from others: its records, its server, its network, or the way its app is
/// used. Each history draws some, and its title names them.
enum LocalTrait: String, CaseIterable, Sendable {
    /// The server executes a repeated write again, so that the app decides about writes of unknown outcome.
    case unkeyed
    /// The server tells the app nothing of its own writes.
    case muted
    /// The ids of the server's records are text.
    case textIDs
    /// The outbox generates the ids of new records.
    case chosenIDs
    /// The path of a service has a placeholder, and lists have different values for it.
    case routes
    /// There are two services, whose records refer to each other, also before they are created.
    case services
    /// The app writes while no one is signed in. The next user takes over what it has written.
    case signedOutWrites
    /// Responses are lost one by one, as those of redirected writes are.
    case lostResponses
    /// A network's sign-in page responds with JSON instead of the server.
    case portal
    /// What was on its way to the server when the connection was lost is executed later.
    case lateCalls
    /// Others create records that look like those that the app creates.
    case lookAlikes
    /// Writes are answered without content.
    case emptyResponses
    /// Writes are answered with a number or a list, as the app declares.
    case otherResponses
    /// Writes request only some properties of their results.
    case shapedResponses
    /// Lists have a limit, and grow.
    case growth
    /// Forms use the provisional ids of records that have their own by then.
    case heldIDs

    /// One in how many histories has it.
    private var rarity: Int {
        switch self {
        case .unkeyed, .muted, .emptyResponses, .otherResponses, .shapedResponses: 4
        case .chosenIDs, .routes, .signedOutWrites, .lostResponses, .portal, .lateCalls, .heldIDs,
            .growth:
            3
        case .textIDs, .services, .lookAlikes: 2
        }
    }

    static func random(hasConnection: Bool, using generator: inout some RandomNumberGenerator) -> Set<LocalTrait> {
        var traits = Set(allCases.filter { Int.random(in: 0..<$0.rarity, using: &generator) == 0 })
        // Without events, nothing would tell the app of what others create, and of what is executed later.
        if !hasConnection { traits.subtract([.muted, .lookAlikes, .lateCalls]) }
        // Of a service with other responses, the outbox takes every response.
        if traits.contains(.otherResponses) { traits.remove(.portal) }
        // The app would decide about a write before it is known whether it was executed.
        if traits.contains(.unkeyed) || traits.contains(.muted) { traits.remove(.lateCalls) }
        return traits
    }
}

extension Set<LocalTrait> {
    /// The names in the order of their declaration.
    var names: String { LocalTrait.allCases.filter(contains).map(\.rawValue).joined(separator: ", ") }
}
