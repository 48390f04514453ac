import Feathers
import FeathersCore
import FeathersSupport
import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersSync

@Suite("Sending from an outbox", .timeLimit(.minutes(10)))
struct OutboxSendingTests {
    @Test("What was handed in before the app lives is sent once it does, with the key in the header")
    func sent() async throws {
        let scene = try await OutboxApp()
        let queued = try await scene.messages.outbox.create(["text": "Hi"])
        #expect(scene.outbox.state.entries.map(\.status) == [.waiting])
        #expect(scene.server.requests.isEmpty)
        try await scene.live { _ in
            let result = try await queued.result()
            #expect(result["text"] == "Hi")
        }
        let request = try #require(scene.server.requests.first)
        #expect(request.path == "messages" && request.method == .create && request.data == ["text": "Hi"])
        #expect(request.params.headers == ["Idempotency-Key": "\"\(queued.write.key.uuidString.lowercased())\""])
        #expect(scene.outbox.state.entries.isEmpty)
    }

    @Test("Writes to one record go in their order, each once the one before it is done with")
    func order() async throws {
        let gate = Promise<Void>()
        let scene = try await OutboxApp(server: AnsweringServer(.held(gate)))
        for number in 0..<5 { try await scene.messages.outbox.patch(7, with: ["n": .integer(Int64(number))]) }
        // The same record, whatever its id is written as.
        let last = try await scene.messages.outbox.remove("7", query: ["reason": "done"])
        try await scene.live { _ in
            try await scene.transport.waitForRequest(number: 1)
            #expect(scene.outbox.state.entries.map(\.status) == [.sending] + Array(repeating: .waiting, count: 5))
            #expect(scene.transport.requests.count == 1)
            gate.resolve(())
            _ = try await last.result()
        }
        #expect(scene.server.requests.prefix(5).map { $0.data?["n"] } == (0..<5).map { .integer($0) })
        #expect(
            scene.server.requests.last?.method == .remove
                && scene.server.requests.last?.params.query.json == ["reason": "done"])
    }

    @Test("A later process sends what an earlier one has left, and only that")
    func restart() async throws {
        let folder = try OutboxFolder()
        let first = try await OutboxApp(in: folder)
        let done = try await first.messages.outbox.patch(1, with: ["n": 1])
        try await first.live { _ in _ = try await done.result() }
        let second = try await OutboxApp(in: folder)
        #expect(second.outbox.state.entries.isEmpty)
        let left = try await second.messages.outbox.patch(
            2, with: ["n": 2], query: ["$select": ["id"]], route: ["room": "1"])
        await second.outbox.close()

        let third = try await OutboxApp(in: folder)
        #expect(third.outbox.state.entries.map(\.write) == [left.write])
        let result = try await third.live { _ in try await third.outbox.result(of: left.id) }
        #expect(result == ["n": 2, "id": 2])
        #expect(third.server.requests.count == 1)
        #expect(third.server.requests.first?.params.route == ["room": "1"])
        await #expect(throws: FeathersError.self) { try await third.outbox.result(of: left.id) }
    }

    @Test("A write follows the earlier ones to its record, even those an earlier process queued under a provisional id")
    func restartAfterCreation() async throws {
        let (folder, made) = (try OutboxFolder(), Promise<Void>())
        made.resolve(())
        let first = try await OutboxApp(in: folder, server: AnsweringServer(.held(made), .held(Promise())))
        try await first.live { _ in
            _ = try await first.messages.outbox.create(["id": 7]).result()
            try await first.messages.outbox.patch(7, with: ["n": 1])
            try await first.transport.waitForRequest(number: 2)
        }
        let gate = Promise<Void>()
        let second = try await OutboxApp(in: folder, server: AnsweringServer(.held(gate))) { $0.isKeyed = true }
        let last = try await second.messages.outbox.patch(7, with: ["n": 2])
        try await second.live { _ in
            try await second.transport.waitForRequest(number: 1)
            #expect(second.outbox.state.entries.map(\.status) == [.sending, .waiting])
            gate.resolve(())
            _ = try await last.result()
        }
        #expect(second.server.requests.map { $0.data?["n"] } == [1, 2])
    }

    @Test(
        "Without keys, what was in flight when the process died is asked about, not sent; with keys it is sent again",
        arguments: [true, false])
    func died(_ isKeyed: Bool) async throws {
        let folder = try OutboxFolder()
        let first = try await OutboxApp(in: folder, server: AnsweringServer(.held(Promise())))
        let queued = try await first.messages.outbox.create(["text": "Hi"])
        // The app's life ends before the answer comes.
        try await first.live { _ in try await first.transport.waitForRequest(number: 1) }
        let second = try await OutboxApp(in: folder) { $0.isKeyed = isKeyed }
        try await second.live { _ in
            if isKeyed {
                _ = try await second.outbox.result(of: queued.id)
            } else {
                let state = try await second.outbox.wait { $0.entries.first?.status == .awaitingDecision }
                #expect(state.entries.first?.failure?.reason == .unknown)
                #expect(state.entries.first?.failure?.mayHaveExecuted == true)
            }
        }
        #expect(second.server.requests.count == (isKeyed ? 1 : 0))
    }

    @Test("Keys in header fields alone are refused over a connection, which would lose them")
    func unsentKeys() async throws {
        let folder = try OutboxFolder()
        func install(_ configure: (inout OutboxOptions) -> Void) async throws {
            let outbox = try await Outbox(file: folder.file, configure)
            do {
                try FeathersApp(transport: StubRealTimeTransport()).use(outbox: outbox)
                await outbox.close()
            } catch {
                await outbox.close()
                throw error
            }
        }
        await #expect { try await install { $0.isKeyed = true } } throws: {
            FeathersError.Code.badRequest ~= $0 && "\($0)".contains("keyPlaces")
        }
        await #expect(throws: FeathersError.self) {
            try await install {
                $0.services["notes"] = OutboxServiceOptions(isKeyed: true, keyPlaces: [.recordID(), .header()])
            }
        }
        try await install { _ in }
        for place in [IdempotencyKeyPlace.query("key"), .recordID()] {
            try await install { ($0.isKeyed, $0.keyPlaces) = (true, [place]) }
        }
        try await install { ($0.isKeyed, $0.keyPlaces) = (true, [.header(), .query("key")]) }
        // So is a condition, which only a record that came over HTTP has.
        var write = OutboxWrite.sample(1)
        write.entityTag = "\"1\""
        #expect(OutboxServiceOptions(isKeyed: false).request(for: write, timeout: nil).params.travelsByHTTP)
    }

    @Test("Keys in header fields are accepted for a service with a transport of its own")
    func registeredKeys() async throws {
        let outbox = try await Outbox(file: try OutboxFolder().file) {
            $0.services["notes"] = OutboxServiceOptions(isKeyed: true)
        }
        let app = FeathersApp(transport: StubRealTimeTransport())
        try await app.use(StubTransport(), at: "notes")
        try app.use(outbox: outbox)
        await outbox.close()
    }

    @Test("A refused creation that is discarded does not take a record of another user's for its own")
    func discardedRefusal() async throws {
        let outbox = try await Outbox(file: try OutboxFolder().file)
        let transport = StubTransport { request in
            switch request.method {
            case .create: throw FeathersError(.forbidden, "no")
            case .find: return []
            default: throw FeathersError(.notFound, "no")
            }
        }
        let app = FeathersApp(transport: transport)
        try app.use(outbox: outbox)
        let messages = app.service("messages")
        let created = try await messages.outbox.create(["text": "Hi"])
        let provisional = created.id.uuidString.lowercased()
        let patched = try await messages.outbox.patch(provisional, with: ["n": 1])
        try await withFeathersApp(app) { app in
            var live = messages.live(.sorted(by: "id")).snapshots.makeAsyncIterator()
            while let snapshot = try await live.next() {
                if case .failed = snapshot.first?.state { break }
            }
            messages.emit(.created, ["id": 8, "text": "Hi"])
            while let snapshot = try await live.next(), !snapshot.records.contains(where: { $0["id"] == 8 }) {}
            try await outbox.decide(.discard, for: created.id)
            #expect(outbox.state.entries.isEmpty)
        }
        // No provisional id leaves the device.
        await #expect { try await patched.result() } throws: { "\($0)".contains("whose creation was discarded") }
        #expect(transport.requests.allSatisfy { $0.method != .patch })
        await outbox.close()
    }

    @Test("A write whose key is a header field goes over REST while there is a connection", arguments: [true, false])
    func keyOverMixed(_ isKeyed: Bool) async throws {
        let folder = try OutboxFolder()
        let outbox = try await Outbox(file: folder.file) { $0.isKeyed = isKeyed }
        let rest = StubTransport { $0.record }
        let connection = StubRealTimeTransport()
        connection.stub("messages", .create, with: .value(["id": 1, "text": "Hi"]))
        let app = FeathersApp(transport: .mixed(realTime: connection, rest: rest))
        try app.use(outbox: outbox)
        try await withFeathersApp(app) { app in
            try await app.connect()
            _ = try await app.service("messages").outbox.create(["text": "Hi"]).result()
        }
        await outbox.close()
        #expect(rest.requests.count == (isKeyed ? 1 : 0))
        #expect(connection.requests.count == (isKeyed ? 0 : 1))
    }

    /// A model for a service's definition. Its records are read as JSON here.
    private struct Message: ServiceModel {
        enum CodingKeys: String, CodingKey { case number, id, text }

        struct Data: Encodable, Sendable {}
        typealias CreateData = Data
        typealias PatchData = Data

        var number: Int
        var id: Int
        var text: String
    }

    @Test("A write to a created record is addressed by the id property of the service's definition")
    func idProperty() async throws {
        let outbox = try await Outbox(file: try OutboxFolder().file)
        let transport = StubTransport { _ in ["number": 7, "id": 3, "text": "Hi"] }
        let app = FeathersApp(transport: transport)
        try app.use(outbox: outbox)
        let messages = app.service(ServiceDefinition<Message>(path: "messages", id: "number")).json
        let created = try await messages.outbox.create(["text": "Hi"])
        let removed = try await messages.outbox.remove(created.id.uuidString.lowercased())
        try await withFeathersApp(app) { _ in _ = try await removed.result() }
        #expect(transport.requests.map(\.id) == [nil, 7])
        await outbox.close()
    }

    @Test("The end of a creation is stored with the assigned id, although no other write knows the record yet")
    func storedID() async throws {
        let folder = try OutboxFolder()
        let scene = try await OutboxApp(in: folder)
        let created = try await scene.messages.outbox.create(["text": "Hi"])
        let result = ServerResult(value: ["id": 8], sender: nil)
        let end = scene.outbox.writeEnd(of: created.write, with: result, for: scene.app.currentSender)
        #expect(end.names == [created.id.uuidString.lowercased(): .assigned(8)])
        await scene.outbox.close()
    }

    @Test("Flushing waits until the user of the stored token is known")
    func flushAtLaunch() async throws {
        let folder = try OutboxFolder()
        let first = try await OutboxApp(in: folder)
        first.app.setIdentity(Identity("alice"))
        try await first.messages.outbox.patch(1, with: ["n": 1])
        await first.outbox.close()

        let second = try await OutboxApp(in: folder)
        let (asked, answered) = (Promise<Void>(), Promise<Void>())
        second.app.resolveIdentity {
            asked.resolve(())
            try? await answered.value()
            return Identity("alice")
        }
        try await second.live { _ in
            try await asked.value()
            let left = Task { (try await second.outbox.flush(within: .seconds(300)).count, answered.isSettled) }
            try await second.clock.waitForSleepers(1)
            answered.resolve(())
            #expect(try await left.value == (0, true))
        }
        #expect(second.server.requests.count == 1)
    }

    @Test("A sender that begins while an earlier one ends goes on with its work")
    func twoSenders() async throws {
        let (asked, decided) = (Promise<Void>(), Promise<Void>())
        let scene = try await OutboxApp(server: AnsweringServer(AnsweringServer.failing(.forbidden))) { options in
            options.decide = { _ in
                asked.resolve(())
                // A function that does not heed its cancellation.
                await Task { try? await decided.value() }.value
                return nil
            }
        }
        try await scene.messages.outbox.patch(1, with: ["n": 1])
        let first = Task { await scene.outbox.run(in: scene.app) }
        try await asked.value()
        first.cancel()
        let second = await SettlingExecutor().start { await scene.outbox.run(in: scene.app) }
        decided.resolve(())
        await first.value
        let queued = try await scene.messages.outbox.patch(2, with: ["n": 2])
        #expect(try await queued.result() == ["n": 2, "id": 2])
        second.cancel()
        try await second.value
        await scene.outbox.close()
    }

    @Test(
        "Sent again, a write has the same key",
        arguments: [FeathersError.Execution.neverSent, .mayHaveExecuted, .answered])
    func sameKey(_ execution: FeathersError.Execution) async throws {
        let scene = try await OutboxApp(server: AnsweringServer(AnsweringServer.failing(.unavailable, execution))) {
            $0.isKeyed = true
            $0.keyPlaces = [.query("key")]
        }
        let queued = try await scene.messages.outbox.create(["text": "Hi"])
        try await scene.live { _ in
            try await scene.clock.waitForSleepers(1)
            #expect(scene.server.requests.count == 1)
            scene.clock.advance(by: .seconds(1))
            _ = try await queued.result()
        }
        let keys = scene.server.requests.map { $0.params.query.json["key"] }
        #expect(keys.count == 2 && Set(keys) == [.string(queued.write.key.uuidString.lowercased())])
    }

    @Test("As the record's id, the key also tells later writes where they belong; a repeat that finds it taken is done")
    func recordID() async throws {
        let scene = try await OutboxApp(
            server: AnsweringServer(
                AnsweringServer.failing(.timeout, .mayHaveExecuted), AnsweringServer.failing(.conflict))
        ) {
            $0.services["/messages/"] = OutboxServiceOptions(isKeyed: true, keyPlaces: [.recordID("_id")])
        }
        let created = try await scene.messages.outbox.create(["text": "Hi"])
        let id = try #require(created.write.data?["_id"]?.string)
        let patched = try await scene.messages.outbox.patch(id, with: ["text": "Ho"])
        try await scene.live { _ in
            try await scene.clock.waitForSleepers(1)
            scene.clock.advance(by: .seconds(1))
            _ = try await created.result()
            _ = try await patched.result()
        }
        #expect(scene.server.requests.map(\.method) == [.create, .create, .get, .patch])
        #expect(scene.server.requests.map(\.id) == [nil, nil, .string(id), .string(id)])
    }

    @Test("Custom methods stand among the writes of a record, or in no order; Feathers' own are refused")
    func customMethods() async throws {
        let (gate, reached) = (Promise<Void>(), Promise<Void>())
        let scene = try await OutboxApp(server: AnsweringServer(.held(gate, reached: reached)))
        try await scene.messages.outbox.update(7, with: ["n": 1])
        let ordered = try await scene.messages.outbox.call("archive", with: ["id": 7], amongWritesOf: 7)
        try await scene.live { _ in
            // What is in no order goes beside the update, and may be the first to arrive: the update shall be the one
            // that is held.
            try await reached.value()
            _ = try await scene.messages.outbox.call("notify").result()
            #expect(scene.server.requests.map(\.method) == [.update, "notify"])
            gate.resolve(())
            _ = try await ordered.result()
        }
        #expect(scene.server.requests.last?.method == "archive" && scene.server.requests.last?.id == nil)
        await #expect { try await scene.messages.outbox.call(.patch) } throws: {
            "\($0)".contains("is not a custom method")
        }
    }

    @Test("Data that JSON can not express is refused and not in the outbox")
    func inexpressible() async throws {
        let scene = try await OutboxApp()
        await #expect { try await scene.messages.outbox.create(["n": .number(.nan)]) } throws: { error in
            (error as? FeathersError)?.code == .badRequest && "\(error)".contains("JSON")
        }
        #expect(scene.outbox.state.entries.isEmpty)
        await scene.outbox.close()
    }

    @Test("Without an outbox, or with a second one, the app says so")
    func installation() async throws {
        await #expect { try await FeathersApp().service("messages").outbox.create([:]) } throws: {
            "\($0)".contains("use(outbox:)")
        }
        let scene = try await OutboxApp()
        #expect(throws: FeathersError.self) { try scene.app.use(outbox: scene.outbox) }
        #expect(scene.app.outbox === scene.outbox)
    }
}
