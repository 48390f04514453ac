import FeathersCore
import FeathersTesting
import Foundation
import TestBackend
import Testing

@testable import FeathersSocketIO

@Suite("Calls with header fields over Socket.IO", .timeLimit(.minutes(10)))
struct CallersCredentialTests {
    @Test(
        "are refused before anything is sent, with the field's name only",
        arguments: ["Authorization", "AUTHORIZATION", "cookie", "X-Tenant", "If-Match"])
    func refused(field: String) async throws {
        try await Scene().connected { scene, socket async throws in
            let request = ServiceRequest(
                path: "secured", method: "archive", data: [:],
                params: Params(headers: [field: "s3cret", "traceparent": "1"]))
            let error = await scene.failure { try await scene.transport.send(request).result }
            #expect(error?.code == .badRequest && error?.execution == .neverSent)
            #expect(
                error?.message == """
                    'archive' on service 'secured' was not sent: a connection does not carry its header field \
                    '\(field)'. If the field is not needed, add it to 'harmlessHeaders'. Otherwise, send this call \
                    over REST, for example with a mixed transport
                    """)
            #expect(socket.sent.waiting.isEmpty)
        }
    }

    @Test("are refused without a connection too, instead of waiting for one")
    func unconnected() async throws {
        let scene = try Scene()
        let error = await scene.failure { try await scene.get(1, Params(headers: ["Authorization": "s3cret"])) }
        #expect(error?.code == .badRequest && error?.execution == .neverSent)
    }

    @Test("are refused if a transport around it has set the field")
    func wrapped() async throws {
        struct Signing: CompositeTransport {
            let inner: SocketIOTransport
            var components: [any Transport] { [inner] }

            func send(_ request: ServiceRequest) async throws -> ServiceResponse {
                var request = request
                request.params.headers["Authorization"] = "s3cret"
                return try await inner.send(request)
            }
        }
        try await Scene().connected { scene, socket async throws in
            let app = FeathersApp(transport: Signing(inner: scene.transport))
            let error = await scene.failure { try await app.service("secured").rawFind() }
            #expect(error?.code == .badRequest && error?.path == "secured")
            #expect(socket.sent.waiting.isEmpty)
        }
    }

    @Test("may have harmless fields, which are not sent, and those that the app names")
    func harmless() async throws {
        try await Scene().connected { scene, socket async throws in
            let app = FeathersApp(transport: scene.transport)
            app.harmlessHeaders = ["x-CLIENT", "Authorization"]
            async let result = app.service("m").get(1, params: Params(headers: ["X-Client": "1", "x-request-id": "2"]))
            #expect(try await socket.sent.next() == #"420["get","m",1,{}]"#)
            socket.deliver(#"430[null,"ok"]"#)
            #expect(try await result == "ok")
            let error = await scene.failure {
                try await app.service("m").get(1, params: Params(headers: ["Authorization": "1"]))
            }
            #expect(error?.code == .badRequest)
        }
    }

    @Test("may have fields of tracing and a language, which are not sent")
    func otherFields() async throws {
        try await Scene().connected { scene, socket async throws in
            async let result = scene.get(
                1, Params(headers: ["Traceparent": "1", "tracestate": "1", "baggage": "1", "Accept-Language": "de"]))
            #expect(try await socket.sent.next() == #"420["get","m",1,{}]"#)
            socket.deliver(#"430[null,"ok"]"#)
            #expect(try await result == "ok")
        }
    }
}
