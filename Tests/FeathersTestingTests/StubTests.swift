import FeathersCore
import FeathersTesting
import Foundation
import Synchronization
import Testing

@Suite("A stub", .timeLimit(.minutes(10)))
struct StubTests {
    private struct Message: Codable, Equatable {
        var id: Int
        var text: String
    }

    private func get(_ id: ServiceID = 1, with stub: ServiceStub) async throws -> JSONValue {
        let transport = StubTransport()
        transport.stub("messages", with: stub)
        return try await FeathersApp(transport: transport).service("messages").get(id)
    }

    /// The texts of so many answers, one after the other.
    private func answers(_ count: Int, of stub: ServiceStub) async throws -> [String] {
        let transport = StubTransport()
        transport.stub("messages", with: stub)
        let messages = FeathersApp(transport: transport).service("messages")
        var texts: [String] = []
        for _ in 0..<count { texts.append(try await messages.get(1).string ?? "-") }
        return texts
    }

    private func file(_ text: String, named name: String = "stub-\(UUID().uuidString).json") throws -> URL {
        let url = FileManager.default.temporaryDirectory.appending(path: name)
        try Data(text.utf8).write(to: url)
        return url
    }

    @Test("can run another stub, with the call or another one, and take its turns")
    func another() async throws {
        let gone = FeathersError(.gone, "Gone")
        let inner = ServiceStub.cycle([.value("first"), Stub { $0.id?.json ?? .null }, .error(gone)])
        let outer = ServiceStub { request in
            var other = request
            other.id = 9
            return ["inner": try await inner.respond(to: other)]
        }
        #expect(try await get(with: outer) == ["inner": "first"])
        #expect(try await get(with: outer) == ["inner": 9])
        await #expect { try await get(with: outer) } throws: { ($0 as? FeathersError)?.code == .gone }
    }

    @Test("answers with a value, a model, a function of the call, a service")
    func values() async throws {
        #expect(try await get(with: .value(["a": 1])) == ["a": 1])
        #expect(try await get(with: .encoding(Message(id: 1, text: "Hi"))) == ["id": 1, "text": "Hi"])
        #expect(try await get(7, with: Stub { ["id": $0.id?.json ?? .null] }) == ["id": 7])
        let service = MemoryService(startID: 1)
        _ = try await service.create(["text": "stored"], Params())
        #expect(try await get(with: .service(service))["text"] == "stored")
    }

    @Test("answers with a file, read anew for every call")
    func files() async throws {
        let url = try file(#"{"id":1}"#)
        defer { try? FileManager.default.removeItem(at: url) }
        let stub = ServiceStub.file(url)
        #expect(try await get(with: stub) == ["id": 1])
        try Data(#"{"id":2}"#.utf8).write(to: url)
        #expect(try await get(with: stub) == ["id": 2])
    }

    @Test("whose file is missing or no JSON fails the call and names it")
    func badFiles() async throws {
        let missing = try await #require(throws: FeathersError.self) {
            try await get(with: .file(URL(filePath: "/nowhere/answer.json")))
        }
        #expect(missing.message == "The stub file '/nowhere/answer.json' does not exist")
        #expect(missing.execution == .neverSent)
        let url = try file("{")
        defer { try? FileManager.default.removeItem(at: url) }
        let broken = try await #require(throws: FeathersError.self) { try await get(with: .file(url)) }
        #expect(broken.message.contains("\(url.path)' is not JSON"))
    }

    @Test("fails with any error, Feathers' own untouched")
    func errors() async throws {
        let refusal = FeathersError(.conflict, "Taken", data: ["by": "ada"])
        let error = try await #require(throws: FeathersError.self) { try await get(with: .error(refusal)) }
        #expect(error.code == .conflict && error.data == ["by": "ada"])
        struct Broken: Error {}
        await #expect(throws: Broken.self) { try await get(with: .error(Broken())) }
    }

    @Test("holds its answer back, errors too, for exactly its delay")
    func delay() async throws {
        let clock = ManualClock()
        for stub in [ServiceStub.value(1), .error(FeathersError(.gone, "Gone"))] {
            let isDone = Mutex(false)
            async let answer = {
                defer { isDone.withLock { $0 = true } }
                return try? await get(with: stub.delayed(by: .seconds(2), on: clock))
            }()
            try await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1.999))
            #expect(!isDone.withLock { $0 })
            clock.advance(by: .milliseconds(1))
            _ = await answer
        }
    }

    @Test("that waits ends when its call is cancelled")
    func cancellation() async throws {
        let clock = ManualClock()
        let delayed = Task { try await get(with: .value(1).delayed(by: .seconds(60), on: clock)) }
        try await clock.waitForSleepers(1)
        delayed.cancel()
        await #expect(throws: CancellationError.self) { try await delayed.value }
        let unanswered = Task { try await get(with: .unanswered) }
        unanswered.cancel()
        await #expect(throws: CancellationError.self) { try await unanswered.value }
    }

    @Test("takes turns, in the order the calls come, whatever their delays")
    func cycle() async throws {
        let cycle = ServiceStub.cycle([.value("a"), .value("b"), .value("c")])
        #expect(try await answers(7, of: cycle) == ["a", "b", "c", "a", "b", "c", "a"])

        let clock = ManualClock()
        let transport = StubTransport()
        transport.stub(
            "m",
            with: ServiceStub.cycle([.value("a").delayed(by: .seconds(9), on: clock), .value("b")]).delayed(
                by: .seconds(1), on: clock))
        async let first = transport.send(ServiceRequest(path: "m", method: .find))
        try await transport.waitForRequest(number: 1)
        async let second = transport.send(ServiceRequest(path: "m", method: .find))
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        #expect(try await second.result == "b")
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(9))
        #expect(try await first.result == "a")
    }

    @Test("takes turns exactly, with many calls at once")
    func cycleOfMany() async throws {
        let stub = ServiceStub.cycle([.value(0), .value(1), .value(2)])
        let transport = StubTransport()
        transport.stub("m", with: stub)
        let counts = try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for _ in 0..<300 {
                group.addTask { try await transport.send(ServiceRequest(path: "m", method: .find)).result }
            }
            return try await group.reduce(into: [JSONValue: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(counts == [0: 100, 1: 100, 2: 100])
    }

    @Test(
        "without anything to choose from says so",
        arguments: [ServiceStub.cycle([]), .random([]), .random([], seed: 1)])
    func empty(_ stub: ServiceStub) async throws {
        let error = try await #require(throws: FeathersError.self) { try await get(with: stub) }
        #expect(error.message.contains("has no stubs to respond with"))
    }

    @Test("chooses at random from the first call on, the same in every run of a seed")
    func random() async throws {
        let stubs: [ServiceStub] = (0..<4).map { .value(.string("\($0)")) }
        // The first answers of many seeds: each stub is first about as often as the others.
        var firsts: [String: Int] = [:]
        for seed in 0..<400 { firsts[try await answers(1, of: .random(stubs, seed: UInt64(seed)))[0], default: 0] += 1 }
        #expect(firsts.count == 4 && firsts.values.allSatisfy { (60...140).contains($0) }, "\(firsts)")

        #expect(try await answers(50, of: .random(stubs, seed: 7)) == answers(50, of: .random(stubs, seed: 7)))
        #expect(try await answers(50, of: .random(stubs, seed: 7)) != answers(50, of: .random(stubs, seed: 8)))
        // That some of 4 never comes in 200 calls happens once in 10^24 runs.
        #expect(Set(try await answers(200, of: .random(stubs))).count == 4)
    }

    @Test("chooses by the call, asked exactly once for each")
    func choose() async throws {
        let asked = Atomic<Int>(0)
        let isLoggedIn = Mutex(false)
        let stub = ServiceStub.choose { request in
            asked.add(1, ordering: .relaxed)
            guard isLoggedIn.withLock({ $0 }) else { return .error(FeathersError(.notAuthenticated, "Log in first")) }
            return request.id == 1 ? .value("one").delayed(by: .zero) : .value("another")
        }
        await #expect { try await get(with: stub) } throws: { FeathersError.Code.notAuthenticated ~= $0 }
        isLoggedIn.withLock { $0 = true }
        #expect(try await get(with: stub.delayed(by: .zero)) == "one")
        #expect(try await get(2, with: stub) == "another")
        #expect(asked.load(ordering: .relaxed) == 3)
    }
}
