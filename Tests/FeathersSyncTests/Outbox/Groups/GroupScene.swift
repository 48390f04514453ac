import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation

@testable import FeathersSync

/// An app with boards and cards, whose server assigns the ids 1, 2, … and refuses what the test says.
struct GroupScene: Sendable {
    let folder: OutboxFolder
    let app: FeathersApp
    let outbox: Outbox
    let transport: StubTransport
    /// What the server has executed, in order.
    let executed = Locked<[ServiceRequest]>([])
    /// The errors of calls whose data has a name, which are used up.
    let refusals = Locked<[String: [FeathersError.Code]]>([:])

    var boards: Service<JSONValue> { app.service("boards") }
    var cards: Service<JSONValue> { app.service("cards") }
    /// The names in the data that the server has executed.
    var names: [String] { executed.withLock { $0.map { $0.data?["name"]?.string ?? "?" } } }

    init(
        in folder: OutboxFolder? = nil, limits: Journal.Limits = Journal.Limits(),
        _ configure: (inout OutboxOptions) -> Void = { _ in }
    ) async throws {
        let folder = try folder ?? OutboxFolder()
        self.folder = folder
        transport = StubTransport { [executed, refusals] request in
            guard request.method != .get, request.method != .find else { return [] }
            let name = request.data?["name"]?.string ?? "?"
            let code: FeathersError.Code? = refusals.withLock { refusals in
                guard let first = refusals[name]?.first else { return nil }
                refusals[name]?.removeFirst()
                return first
            }
            if let code { throw FeathersError(code, "no") }
            let count = executed.withLock { executed in
                executed.append(request)
                return executed.count
            }
            return request.method == .create
                ? (request.data ?? [:]).setting("id", to: .integer(Int64(count)))
                : request.id.map { (request.data ?? [:]).setting("id", to: $0.json) } ?? request.data ?? .null
        }
        outbox = try await Outbox(
            on: JournalWriter(folder.file, limits: limits),
            OutboxOptions { options in
                options.isKeyed = true
                options.retry = OutboxRetry(initialDelay: .zero, maximumDelay: .zero)
                configure(&options)
            })
        app = FeathersApp(transport: transport)
        try app.use(outbox: outbox)
    }

    func refuse(_ name: String, _ codes: FeathersError.Code...) { refusals.withLock { $0[name] = codes } }

    /// Sends what can be sent.
    func flush() async throws {
        try await withFeathersApp(app) { _ in _ = try await outbox.flush(within: .seconds(300)) }
    }

    func close() async { await outbox.close() }
}

extension QueuedWrite {
    /// The provisional id of the record that the write creates.
    var provisionalID: String { id.text }
}
