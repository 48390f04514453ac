import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import Synchronization

@testable import FeathersSync

/// An app with an outbox in a folder of its own, and a server whose answers the test chooses.
struct OutboxApp: Sendable {
    let folder: OutboxFolder
    let app: FeathersApp
    let outbox: Outbox
    let server: AnsweringServer
    let transport: StubTransport
    let clock: ManualClock

    var messages: Service<JSONValue> { app.service("messages") }

    init(
        in folder: OutboxFolder? = nil, server: AnsweringServer = AnsweringServer(),
        _ configure: (inout OutboxOptions) -> Void = { _ in }
    ) async throws {
        self.folder = try folder ?? OutboxFolder()
        self.server = server
        let clock = ManualClock()
        self.clock = clock
        outbox = try await Outbox(file: self.folder.file) { options in
            options.clock = clock
            options.retry = OutboxRetry(jitter: 0)
            options.squashesPatches = false
            options.attemptTimeout = nil
            configure(&options)
        }
        transport = StubTransport { request in try await server.answer(request) }
        app = FeathersApp(transport: transport)
        try app.use(outbox: outbox)
    }

    /// Lets the app live while `body` runs, and closes the outbox.
    @discardableResult
    func live<Result: Sendable>(_ body: (FeathersApp) async throws -> Result) async throws -> Result {
        let result = try await withFeathersApp(app, body)
        await outbox.close()
        return result
    }
}

extension Outbox {
    /// Waits for a state.
    @discardableResult
    func wait(until condition: (OutboxState) -> Bool) async throws -> OutboxState {
        for await state in stateUpdates() where condition(state) { return state }
        throw CancellationError()
    }
}

/// Answers calls with what the test says, in the order they come, and then with their own data.
final class AnsweringServer: Sendable {
    enum Answer: Sendable {
        case error(FeathersError)
        /// Nothing until the test opens the gate, which the call has then reached.
        case held(Promise<Void>, reached: Promise<Void> = Promise())
    }

    private struct State {
        var answers: [Answer] = []
        var requests: [ServiceRequest] = []
    }

    private let state = Locked(State())

    init(_ answers: Answer...) {
        state.withLock { $0.answers = answers }
    }

    static func failing(_ code: FeathersError.Code, _ execution: FeathersError.Execution = .answered) -> Answer {
        .error(FeathersError(code, "no", execution: execution))
    }

    var requests: [ServiceRequest] { state.withLock { $0.requests } }

    func answer(_ request: ServiceRequest) async throws -> JSONValue {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        switch answer {
        case .error(let error): throw error
        case .held(let gate, let reached):
            reached.resolve(())
            try await gate.value()
        case nil: break
        }
        return request.record
    }
}

extension ServiceRequest {
    private static let lastID = Atomic<Int>(1_000)

    /// The record that a server without a database responds with: the data, with the id that the call names, that the
    /// data has, or a new one.
    var record: JSONValue {
        if case .custom = method { return data ?? .null }
        if let elements = data?.array { return .array(elements.map { Self.record(of: $0, nil) }) }
        return Self.record(of: data ?? [:], id)
    }

    private static func record(of data: JSONValue, _ id: ServiceID?) -> JSONValue {
        if id == nil, data.isRecord(["id", "_id"]) { return data }
        return data.setting("id", to: id?.json ?? .integer(Int64(lastID.add(1, ordering: .relaxed).newValue)))
    }
}
