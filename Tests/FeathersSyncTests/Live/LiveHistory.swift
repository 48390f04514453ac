import FeathersCore
import FeathersTesting

@testable import FeathersSync

/// A random history: a service that changes, events that are late or lost, and the window that follows them.
struct LiveHistory {
    private enum Item {
        case event(ServiceEvent)
        case gap
    }

    private let service: MemoryService
    private let query: Query<JSONValue>
    private var window: LiveWindow?
    private var random: SeededGenerator
    /// What the window has not heard of yet.
    private var queue: [Item] = []
    private(set) var log: [String] = []

    init(_ query: Query<JSONValue>, _ pagination: Pagination?, seed: UInt64) {
        self.query = query
        random = SeededGenerator(seed: seed)
        service = MemoryService(startID: 1, multi: .all, pagination: pagination)
    }

    mutating func play() async throws {
        for _ in 0..<Int.random(in: 0...8, using: &random) { try await change() }
        queue = []
        window = LiveWindow(try LiveQueryPlan(query, id: "id"))
        for _ in 0..<Int.random(in: 1...20, using: &random) {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6: try await change()
            case 6: lose()
            default: try await hear(Int.random(in: 1...4, using: &random))
            }
        }
        try await hear(.max)
    }

    /// What is shown, and what a fresh find gives.
    func results() async throws -> (live: [JSONValue], fresh: [JSONValue]) {
        guard let window else { return ([], []) }
        let fresh = try Page(json: await service.find(Params(query: query))).data
        return (window.visible.map { window.plan.select($0.record) }, fresh)
    }

    /// One change of the service, with its events.
    private mutating func change() async throws {
        let ids = try Page(json: await service.find(Params(query: .limit(5)))).compactMap { $0["id"]?.integer }
        let record: JSONValue = [
            "kind": .string(["a", "b", "c"].randomElement(using: &random) ?? "a"),
            "rank": .integer(.random(in: 0...5, using: &random)),
        ]
        guard let id = ids.randomElement(using: &random) else {
            return try await emit(.created, service.create(record, Params()))
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<3: try await emit(.created, service.create(record, Params()))
        case 3: try await emit(.updated, service.update(.integer(id), with: record, Params()))
        case 4, 5: try await emit(.patched, service.patch(.integer(id), with: ["rank": record["rank"] ?? 0], Params()))
        case 6: try await emit(.removed, service.remove(.integer(id), Params()))
        default:
            let patched = try await service.patch(
                nil, with: ["kind": record["kind"] ?? "a"], Params(query: ["rank": record["rank"] ?? 0]))
            for record in patched.array ?? [] { emit(.patched, record) }
        }
    }

    private mutating func emit(_ name: EventName, _ data: JSONValue) {
        log.append("\(name) \(data)")
        queue.append(.event(ServiceEvent(path: "records", name: name, data: data)))
    }

    /// The connection is lost with whatever was on its way, and comes back.
    private mutating func lose() {
        log.append("lost \(queue.count)")
        queue = [.gap]
    }

    /// The window hears so many events; what it asks for is fetched while others are still on their way.
    private mutating func hear(_ count: Int) async throws {
        try await fetchIfNeeded()
        for item in queue.prefix(count) {
            switch item {
            case .event(let event): _ = window?.received(event)
            case .gap: window?.missedEvents()
            }
            try await fetchIfNeeded()
        }
        log.append("heard \(min(count, queue.count))")
        queue.removeFirst(min(count, queue.count))
    }

    private mutating func fetchIfNeeded() async throws {
        guard let current = window, current.needsFetch else { return }
        log.append("fetched")
        try window?.fetched(Page(json: await service.find(Params(query: current.plan.request))))
    }
}
