import FeathersCore
import FeathersTesting
import Testing

@Suite("A hook that changes the method of a call")
struct ChangedMethodTests {
    private func notes(_ options: ServiceOptions = ServiceOptions()) async throws -> Service<JSONValue> {
        let notes = try await FeathersApp().use(MemoryService(startID: 1), at: "notes", options: options)
        try await notes.create(["text": "old"])
        return notes
    }

    /// FeathersJS' recipe for soft deletion: `remove` becomes a `patch`.
    private static let marking = Hooks(before: [
        .remove: [
            { context in
                context.method = .patch
                context.data = ["isDeleted": true]
            }
        ]
    ])

    @Test("calls the other method, which emits its own event; the hooks are those of the original method")
    func softDeletion() async throws {
        let notes = try await notes()
        let trace = Trace()
        await notes.use(hooks: Self.marking)
        await notes.use(
            hooks: Hooks(
                before: [.patch: [{ _ in trace.add("before patch") }]],
                after: [
                    .remove: [{ trace.add("after remove, \($0.method)") }], .patch: [{ _ in trace.add("after patch") }],
                ]))
        let events = notes.events()
        #expect(try await notes.remove(1) == ["text": "old", "id": 1, "isDeleted": true])
        #expect(try await events.first().name == .patched)
        #expect(trace.all == ["after remove, patch"])
        #expect(try await notes.get(1)["isDeleted"] == true)
    }

    @Test("changes it in an around hook too, and a later hook may choose the event")
    func around() async throws {
        let notes = try await notes()
        await notes.use(
            hooks: Hooks(
                around: [
                    .update: [
                        { context, next in
                            context.method = .patch
                            try await next(&context)
                        }
                    ]
                ], after: [.update: [{ $0.event = "edited" }]]))
        let events = notes.events(nil)
        #expect(try await notes.update(1, with: ["more": 1]) == ["text": "old", "id": 1, "more": 1])
        #expect(try await events.first().name == "edited")
    }

    @Test("emits no event where the service does so itself, or where the method has none")
    func events() async throws {
        let notes = try await notes(ServiceOptions(serviceEvents: [.patched]))
        await notes.use(hooks: Self.marking)
        await notes.use(hooks: Hooks(before: [.create: [{ $0.method = .find }]]))
        let events = notes.events(nil)
        try await notes.remove(1)
        _ = try? await notes.create(["text": "ignored"])
        notes.emit("end", .null)
        #expect(try await events.first().name == "end")
    }

    @Test("cannot reach a method that the options exclude")
    func excluded() async throws {
        let notes = try await notes(ServiceOptions(methods: [.create, .get, .remove]))
        await notes.use(hooks: Self.marking)
        await #expect { try await notes.remove(1) } throws: { FeathersError.Code.methodNotAllowed ~= $0 }
    }

    @Test("must set the id and the data that the method needs: a missing id never means every record")
    func missing() async throws {
        let notes = try await notes()
        await notes.use(hooks: Hooks(before: [.create: [{ $0.method = .remove }], .find: [{ $0.method = .get }]]))
        await #expect { try await notes.create(["text": "new"]) } throws: {
            FeathersError.Code.badRequest ~= $0 && "\($0)".contains("set context.id too")
        }
        await #expect { try await notes.find() } throws: { FeathersError.Code.badRequest ~= $0 }
        await notes.use(hooks: Hooks(before: [.get: [{ $0.method = .update }]]))
        await #expect { try await notes.get(1) } throws: { "\($0)".contains("set context.data too") }
    }

    @Test("works over a transport, for custom methods too")
    func remote() async throws {
        let stub = StubTransport { request in .string("\(request.method) \(request.data ?? .null)") }
        let notes = FeathersApp(transport: stub).service("notes")
        await notes.use(
            hooks: Hooks(before: ["archive": [{ $0.method = "store" }], "purge": [{ $0.method = .create }]]))
        #expect(try await notes.call("archive", with: ["id": 1]) == #"store {"id":1}"#)
        #expect(try await notes.call("purge", with: ["id": 1]) == #"create {"id":1}"#)
    }

    @Test("that turns a read into a write: it may have been executed, so it is not repeated, unless it was never sent")
    func noRepeatedWrite() async throws {
        for execution in [FeathersError.Execution.mayHaveExecuted, .neverSent] {
            let stub = StubTransport { _ in throw FeathersError(.unavailable, "lost", execution: execution) }
            let app = FeathersApp(transport: stub)
            app.use(hooks: .retrying(attempts: 3, pause: .zero))
            let notes = app.service("notes")
            await notes.use(
                hooks: Hooks(before: [
                    .find: [
                        {
                            $0.method = .create
                            $0.data = ["text": "new"]
                        }
                    ]
                ]))
            // A deadline runs the call with a context of its own, whose changes are lost when the call fails.
            await notes.use(hooks: .timeout(.seconds(3600)))
            await #expect { try await notes.find() } throws: { ($0 as? FeathersError)?.method == .create }
            #expect(stub.requests.map(\.method) == Array(repeating: .create, count: execution == .neverSent ? 3 : 1))
        }
    }

    @Test("The hooks of a service can be read")
    func hooks() async throws {
        let notes = try await notes()
        #expect(await notes.hooks.isEmpty)
        await notes.use(hooks: Self.marking)
        #expect(await notes.hooks.before[.remove].count == 1)
        #expect(await notes.hooks.before[.patch].isEmpty)
        #expect(await notes.hooks.before.scopes == [.remove])
    }
}
