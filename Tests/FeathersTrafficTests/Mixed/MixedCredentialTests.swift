import Feathers
import FeathersTesting
import Foundation
import TestBackend
import Testing

@Suite("Calls as another user over a mixed transport", .timeLimit(.minutes(10)))
struct MixedCredentialTests {
    private let params = Params(headers: ["authorization": "Bearer theirs"])

    @Test("go over REST, whatever their route", arguments: [ServiceMethod.find, .create, "archive"])
    func routes(method: ServiceMethod) async throws {
        let ways = StubbedWays { $0["messages"] = .realTime }
        ways.rest.stub("messages", "archive", with: .value("rest"))
        try await ways.app.connect()
        let response = try await ways.app.service("messages").respond(
            to: ServiceRequest(path: "messages", method: method, data: [:], params: params))
        #expect(response.result == "rest")
        #expect(ways.rest.requests.map(\.params.headers) == [["authorization": "Bearer theirs"]])
        #expect(ways.socket.requests.isEmpty)
    }

    @Test("go over REST beside a signed-in user, whose own calls go over the connection")
    func signedIn() async throws {
        let ways = StubbedWays()
        ways.signsIn()
        try ways.app.use(authentication: AuthenticationOptions())
        try await ways.app.connect()
        try await ways.app.authenticate(.local(email: "a@example.com", password: "p"))
        #expect(try await ways.app.service("messages").rawFind() == "socket")
        #expect(try await ways.app.service("messages").rawFind(params: params) == "rest")
        #expect(ways.rest.requests.last?.params.headers == ["authorization": "Bearer theirs"])
    }

    @Test("are known by the field of the app's authentication")
    func customField() async throws {
        let ways = StubbedWays()
        ways.signsIn()
        try ways.app.use(authentication: AuthenticationOptions { $0.header = "X-Token" })
        try await ways.app.connect()
        try await ways.app.authenticate(.local(email: "a@example.com", password: "p"))
        let messages = ways.app.service("messages")
        _ = try await messages.rawFind()
        #expect(ways.rest.requests.isEmpty)
        _ = try await messages.rawFind(params: Params(headers: ["x-token": "theirs"]))
        #expect(ways.rest.requests.map(\.params.headers) == [["x-token": "theirs"]])
    }

    @Test("are refused if neither part is HTTP")
    func noHTTP() async throws {
        let socket = StubRealTimeTransport()
        let app = FeathersApp(transport: .mixed(realTime: socket, rest: StubRealTimeTransport()))
        try await app.connect()
        await #expect {
            try await app.service("messages").create([:], params: params)
        } throws: {
            FeathersError.Code.badRequest ~= $0 && ($0 as? FeathersError)?.execution == .neverSent
        }
        #expect(socket.requests.isEmpty)
    }
}
