import Feathers
import FeathersTesting
import Foundation
import TestBackend
import Testing

/// Something that must behave as a Feathers backend does, whatever carries the calls.
struct Subject: Sendable, CustomTestStringConvertible {
    let testDescription: String

    /// Whether a call's timeout is the transport's to keep; a service in the process is no transport.
    let keepsTimeouts: Bool

    /// An app whose services are those of the test backend.
    let app: @Sendable () async throws -> FeathersApp

    /// Services registered in the app itself.
    static let memory = Subject(testDescription: "memory", keepsTimeouts: false) {
        let app = FeathersApp()
        for (path, service) in LocalBackend.services() { try await app.use(service, at: path) }
        return app
    }

    /// The same services behind a stub transport.
    static let stub = Subject(testDescription: "stub", keepsTimeouts: false) {
        FeathersApp(transport: StubTransport(services: LocalBackend.services()))
    }

    /// The test backend over REST, with the platform's HTTP client.
    static let rest = Subject(testDescription: "REST", keepsTimeouts: true) {
        FeathersApp(transport: .rest(try await TestBackend.url()))
    }

    /// The test backend over REST, on URLSession.
    static let restOverURLSession = Subject(testDescription: "REST over URLSession", keepsTimeouts: true) {
        FeathersApp(transport: .rest(try await TestBackend.url(), httpClient: URLSessionHTTPClient()))
    }

    static let all: [Subject] = [memory, stub] + (TestBackend.isSkipped ? [] : [rest, restOverURLSession])
}
