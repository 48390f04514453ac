import Feathers
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("The samples of the article about real time", .timeLimit(.minutes(10)))
struct RealTimeGuideTests {
    @Test("An app lives with its connection, which ends with it", .inTurn, .enabled(if: !TestBackend.isSkipped))
    func lives() async throws {
        let app = try await livesWithConnection(TestBackend.url())
        #expect(app.connectionStatus == .offline)
    }

    @Test("A connection made by hand, its status until the end, and its options")
    func byHand() async throws {
        let transport = StubRealTimeTransport()
        transport.stub("messages", .create, with: .value(["id": 1]))
        let app = FeathersApp(transport: transport)
        try await connectsByHand(app)
        #expect(app.connectionStatus == .offline)
        // Ends with its task.
        async let _: Void = tellsStatus(app)
        try await transport.waitForStatus { $0 == .offline }
        #expect(connectionOptions(URL(string: "http://localhost:3030")!).status == .offline)
    }

    @Test("Events of several kinds reach everyone who listens for them")
    func listening() async throws {
        let messages = try await FeathersApp().use(MemoryService(startID: 1), at: "messages")
        let listening = listens(messages.of(Note.self))
        try await messages.create(["text": "Hi"])
        messages.emit("typing", ["user": "Ada"])
        try await messages.remove(1)
        await hears(listening.everything)
        #expect(try await listening.created.first().text == "Hi")
        #expect(try await listening.typing.first().user == "Ada")
        let (lists, shown) = AsyncStream.makeStream(of: [Int].self)
        async let _: Void = keepsRecords(listening.changes) { shown.yield(Array($0.keys)) }
        #expect(try await lists.first() == [1])
        #expect(try await lists.first() == [])
    }

    @Test("A list that knows of gaps is right again after one")
    func gaps() async throws {
        let transport = StubRealTimeTransport()
        transport.stub("messages", .find, with: .value([1, 2]))
        let app = FeathersApp(transport: transport)
        try await app.connect()
        let messages = app.service("messages", of: Int.self)
        let (lists, shown) = AsyncStream.makeStream(of: [Int].self)
        async let _: Void = keepsList(messages) { shown.yield($0) }
        #expect(try await lists.first() == [1, 2])
        transport.emit(.created, of: "messages", 3)
        #expect(try await lists.first() == [1, 2, 3])
        transport.drop()
        transport.restore()
        #expect(try await lists.first() == [1, 2])
        await app.disconnect()
    }

    @Test("Every event of a server comes in raw form", .inTurn, .enabled(if: !TestBackend.isSkipped))
    func raw() async throws {
        let url = try await TestBackend.url()
        let transport = SocketIOTransport.socketIO(url)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await rawEvents(transport) }
            try await withFeathersApp(FeathersApp(transport: transport)) { app in
                let events = transport.events()
                try await app.service("messages").create(["text": "raw"])
                #expect(await events.contains { $0.name == "messages created" })
            }
            group.cancelAll()
        }
    }
}
