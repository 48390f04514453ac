import FeathersSupport
import FeathersTesting
import Testing

@testable import FeathersCore

@Suite("Pushed events")
struct PushedEventsTests {
    private static func event(_ id: Int64) -> ServiceEvent {
        ServiceEvent(path: "messages", name: .created, data: .integer(id))
    }

    @Test("reach every subscriber from its subscription on, and none after its end")
    func subscribers() async {
        let app = FeathersApp()
        let sink = app.serviceRegistry.eventSink
        let messages = app.service("messages")
        var first = messages.events(.created).makeAsyncIterator()
        sink.receive(Self.event(1))
        var second: AsyncStream<JSONValue>? = messages.events(.created)
        sink.receive(Self.event(2))
        var reader = second?.makeAsyncIterator()
        #expect(await reader?.next() == 2)
        (second, reader) = (nil, nil)
        sink.receive(Self.event(3))
        for id in 1...3 { #expect(await first.next() == .integer(Int64(id))) }
        #expect(messages.registered.events.load.subscribers == 1)
    }

    @Test("find services that were used after the first event")
    func laterService() async {
        let app = FeathersApp()
        let sink = app.serviceRegistry.eventSink
        sink.receive(Self.event(1))
        var events = app.service("messages").events(.created).makeAsyncIterator()
        sink.receive(Self.event(2))
        #expect(await events.next() == 2)
    }

    @Test("are dropped while they are not for the present user")
    func foreign() async {
        let app = FeathersApp()
        let sink = app.serviceRegistry.eventSink
        var events = app.service("messages").events(.created).makeAsyncIterator()
        app.deliversPushedEvents(false)
        sink.receive(Self.event(1))
        app.deliversPushedEvents(true)
        sink.receive(Self.event(2))
        #expect(await events.next() == 2)
    }
}
