import Feathers
import Foundation
import TestBackend
import Testing

/// Whose call it is: a call with a token of its own runs with that token, or not at all.
@Suite("Conformance: whose call it is", .inTurn)
struct CredentialConformanceTests {
    /// A way to call a service whose results say what the server has received.
    enum Way: CaseIterable {
        case create, customMethod, stream

        func call(_ echo: Service<JSONValue>, _ params: Params) async throws -> JSONValue? {
            switch self {
            case .create: return try await echo.create(["n": 1], params: params)
            case .customMethod: return try await echo.call("shout", with: ["n": 1], params: params)
            case .stream:
                for try await item in echo.stream(.create, with: ["n": 1], params: params) { return item }
                return nil
            }
        }
    }

    @Test(
        "A call with a header that names a user runs with it, or is refused before it is sent", arguments: Subject.all)
    func ownCredential(_ subject: Subject) async throws {
        let echo = try await subject.app().service("echo")
        for way in Way.allCases where way != .customMethod || subject.can(.customMethods) {
            for field in ["Authorization", "authorization", "COOKIE", "X-Tenant"] {
                let params = Params(headers: [field: "Secret value"])
                guard subject.carriesHeaders else {
                    await #expect("\(subject.testDescription) sends \(field) with \(way)") {
                        _ = try await way.call(echo, params)
                    } throws: { error in
                        guard let error = error as? FeathersError else { return false }
                        let names = [
                            "'\(field)'", "'\(way == .customMethod ? "shout" : "create")'", "'echo'", "over REST",
                        ]
                        return error.code == .badRequest && error.execution == .neverSent
                            && !"\(error)".contains("Secret")
                            && names.allSatisfy(error.message.contains)
                    }
                    continue
                }
                let received = try #require(try await way.call(echo, params))
                #expect(received["provider"] != "socketio")
                if let headers = received["headers"] { #expect(headers[field.lowercased()] == "Secret value") }
            }
        }
    }

    @Test("A hook's header counts like the caller's, and harmless headers never matter", arguments: Subject.all)
    func hooks(_ subject: Subject) async throws {
        let app = try await subject.app()
        let echo = app.service("echo")
        #expect(try await echo.create(["n": 1], params: Params(headers: ["X-Request-Id": "1"]))["method"] == "create")
        app.use(hooks: Hooks(before: [{ $0.params.headers["Authorization"] = "Bearer theirs" }]))
        if subject.carriesHeaders {
            #expect(try await echo.create(["n": 1])["provider"] != "socketio")
        } else {
            await #expect {
                try await echo.create(["n": 1])
            } throws: {
                FeathersError.Code.badRequest ~= $0 && ($0 as? FeathersError)?.execution == .neverSent
            }
        }
    }
}
