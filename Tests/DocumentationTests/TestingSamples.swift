import Feathers
import FeathersTesting
import Foundation
import Testing

// The samples of the article about testing, each one as it stands there.

private nonisolated struct Message: Codable, Sendable {
    var id: Int?
    var text: String
}

private func answers() {
    let transport = StubTransport()
    transport.stub("messages", .find, with: .value([["id": 1, "text": "Hi"]]))
    transport.stub("messages", .get, with: .encoding(Message(id: 1, text: "Hi")))
    transport.stub(
        "messages", .create, with: ServiceStub { request in request.data ?? .null })
    transport.stub("messages", .remove, with: .error(FeathersError(.forbidden, "Not yours")))
    transport.stub("countries", with: .file(URL(filePath: "/fixtures/countries.json")))
    transport.stub("todos", with: .service(MemoryService(multi: .all)))
    let app = FeathersApp(transport: transport)
    _ = app
}

func madeOfStubs() -> [ServiceStub] {
    let busy = ServiceStub.error(FeathersError(.unavailable, "Busy"))
    let slow = ServiceStub.value(["id": 1]).delayed(by: .seconds(2))
    let inTurns = ServiceStub.cycle([busy, busy, slow])
    let byChance = ServiceStub.random([busy, slow], seed: 7)
    let byCall = ServiceStub.choose { request in request.id == 1 ? slow : busy }
    return [inTurns, byChance, byCall]
}

private func registration(_ transport: StubTransport) {
    transport.stub(
        where: { $0.params.headers["Authorization"] == nil },
        with: .error(FeathersError(.notAuthenticated, "Log in")))
    let registration = transport.stub("messages", .find, with: .value([]))
    transport.removeStub(registration)
    transport.removeStub("messages", .get)
    transport.removeAllStubs()
}

private func fallbacks() -> [StubTransport] {
    let closure = StubTransport { request in .string(request.path) }
    let services = StubTransport(services: ["messages": MemoryService()])
    let live = StubTransport(passingThrough: .rest(URL(string: "http://localhost:3030")!))
    return [closure, services, live]
}

func recordedCalls(_ transport: StubTransport) async throws {
    let removed = try await transport.waitForRequest(number: 3)
    #expect(removed.id == 1)
    let created = transport.calls(of: "messages", .create)
    #expect(created.first?.request.data == ["text": "Hi"])
    #expect(created.first?.response?["id"] == 7)
    #expect(try await transport.waitForOutcome(number: 3).error is CancellationError)
}

func connections() async throws {
    let transport = StubRealTimeTransport(services: ["messages": MemoryService()])
    let app = FeathersApp(transport: transport)
    try await app.connect()
    transport.emit("typing", of: "messages", ["user": "ada"])
    transport.drop(.pingTimeout)
    transport.restore(recovered: false)
    transport.refuse(with: FeathersError(.notAuthenticated, "Expired"), attempts: 1)
    transport.drop(.serverDisconnect)
    await app.disconnect()
}

private func http() {
    let http = StubHTTPClient()
    http.stub("/messages/1", "GET", with: .json(["id": 1, "text": "Hi"]))
    http.stub(
        "/messages", "POST",
        with: .refusal(FeathersError(.unprocessable, "No text", errors: ["text": "missing"])))
    http.stub(
        "/messages/2",
        with: .bytes(
            Array("<html>".utf8), status: 502, headers: ["Content-Type": "text/html"]))
    http.stub("/old", with: .status(303, headers: ["Location": "/new"]))
    http.stub(
        "https://api.example.com/messages?$limit=1",
        with: .error(HTTPClientError(.cannotConnect, "No server listens")))
    let app = FeathersApp(
        transport: .rest(URL(string: "https://api.example.com")!, httpClient: http))
    _ = app
}

func testOfTime(_ app: FeathersApp, _ transport: StubTransport) async throws -> Page<JSONValue> {
    let clock = ManualClock()
    transport.stub("messages", with: .value([]).delayed(by: .seconds(30), on: clock))
    async let messages = app.service("messages").find()
    try await clock.waitForSleepers(1)
    clock.advance(by: .seconds(30))
    return try await messages
}
