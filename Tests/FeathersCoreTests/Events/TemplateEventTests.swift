import FeathersSupport
import Testing

@testable import FeathersCore

/// A server names events by the path under which a service is registered there, with its placeholders.
@Suite("Events of a path with placeholders")
struct TemplateEventTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let template: String
        let path: String
        var matches = true

        var testDescription: String { "\(template), \(path)" }
    }

    @Test(
        "reach the services of paths that the template matches",
        arguments: [
            Case(template: "teams/:team/members", path: "teams/red/members"),
            Case(template: ":team", path: "red"), Case(template: "a/:b/:c", path: "a/1/2"),
            Case(template: "teams/:team/members", path: "teams/:id/members"),
            Case(template: "teams/:team/members", path: "teams/red/guests", matches: false),
            Case(template: "teams/:team/members", path: "teams/members", matches: false),
            Case(template: "teams/:team/members", path: "teams/a/b/members", matches: false),
            Case(template: "teams/:team/members", path: "teams//members", matches: false),
            Case(template: "teams/:team", path: "teams/red/members", matches: false),
            Case(template: "teams/red:blue/members", path: "teams/red/members", matches: false),
            Case(template: "teams/red/members", path: "teams/blue/members", matches: false),
        ])
    func matches(_ example: Case) async {
        let app = FeathersApp()
        let sink = app.serviceRegistry.eventSink
        var events = app.service(example.path).events(nil).makeAsyncIterator()
        sink.receive(ServiceEvent(path: example.template, name: .created, data: 1))
        sink.receive(ServiceEvent(path: example.path, name: .created, data: 2))
        let first = await events.next()
        #expect(first?.data == (example.matches ? 1 : 2))
        #expect(first?.path == (example.matches ? example.template : example.path))
    }

    @Test("reach the template's own service once, and observers under each path")
    func observers() async throws {
        let app = FeathersApp()
        let paths = ObservedPaths()
        app.observeEvents(with: EventSink(onEvent: { event in paths.add(event.path) }, onGap: { _ in }))
        let sink = app.serviceRegistry.eventSink
        let red = app.service("teams/red/members")
        var template = app.service("teams/:team/members").events(nil).makeAsyncIterator()
        sink.receive(ServiceEvent(path: "teams/:team/members", name: .created, data: 1))
        sink.receive(ServiceEvent(path: "teams/red/members", name: .created, data: 2))
        sink.receive(ServiceEvent(path: "teams/:team/members", name: .created, data: 3))
        #expect(await template.next()?.data == 1)
        #expect(await template.next()?.data == 3)
        #expect(
            paths.all == [
                "teams/:team/members", red.path, red.path, "teams/:team/members", red.path,
            ])
    }
}

private final class ObservedPaths: Sendable {
    private let paths = Locked<[String]>([])

    var all: [String] { paths.withLock { $0 } }

    func add(_ path: String) { paths.withLock { $0.append(path) } }
}
