import FeathersCore
import FeathersTesting
import Foundation
import Testing

@testable import FeathersSync

/// Writes that are queued while no one is signed in.
@Suite("A write of no user", .timeLimit(.minutes(5)))
struct SignedOutWriteTests {
    private let folder: OutboxFolder
    private let alice = Identity("alice")
    private let bob = Identity("bob")

    init() throws { folder = try OutboxFolder() }

    /// Runs an app on the outbox's file. Without a server, its calls fail before they are sent.
    private func process(
        as user: Identity?, hasServer: Bool, _ body: (FeathersApp, Outbox, StubTransport) async throws -> Void
    ) async throws {
        let transport = StubTransport { request in
            if hasServer { return ["id": 1, "text": "Hi"] }
            throw FeathersError(.unavailable, "No server", execution: .neverSent)
        }
        let outbox = try await Outbox(file: folder.file)
        let app = FeathersApp(transport: transport)
        app.setIdentity(user)
        try app.use(outbox: outbox)
        try await body(app, outbox, transport)
        await outbox.close()
    }

    @Test("that a user has taken over is never sent as another one, also after a restart")
    func takenOver() async throws {
        try await process(as: nil, hasServer: false) { app, outbox, _ in
            try await withFeathersApp(app) { app in
                try await app.service("notes").outbox.create(["text": "Hi"])
                app.setIdentity(bob)
                try await outbox.wait { $0.entries.first?.write.identity == bob }
            }
        }
        try await process(as: alice, hasServer: true) { app, outbox, transport in
            try await withFeathersApp(app) { _ in
                let left = try await outbox.flush(within: .seconds(10))
                #expect(left.isEmpty && transport.requests.isEmpty)
            }
        }
        try await process(as: bob, hasServer: true) { app, outbox, transport in
            try await withFeathersApp(app) { _ in
                let left = try await outbox.flush(within: .seconds(10))
                #expect(left.isEmpty && transport.requests.count == 1)
            }
        }
    }

    @Test("is taken over on disk before it is sent")
    func takenOnDisk() async throws {
        try await process(as: nil, hasServer: false) { app, _, _ in
            try await app.service("notes").outbox.create(["text": "Hi"])
            // The app does not run, so nobody takes it over.
            app.setIdentity(bob)
        }
        try await process(as: alice, hasServer: false) { app, outbox, _ in
            #expect(outbox.state.entries.first?.write.identity == nil)
            try await withFeathersApp(app) { _ in _ = try await outbox.wait { $0.entries.first?.attempts ?? 0 > 0 } }
        }
        let outbox = try await Outbox(file: folder.file)
        #expect(outbox.withState { $0.queue.inOrder.map(\.write.identity) } == [alice])
        await outbox.close()
    }
}
