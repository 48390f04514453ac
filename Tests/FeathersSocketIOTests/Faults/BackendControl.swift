import FeathersCore
import FeathersNetworking
import Foundation
import TestBackend

/// A clean connection to the backend, for what must not depend on the one under test.
struct BackendControl: Sendable {
    private let server: URL

    init(_ server: URL) {
        self.server = server
    }

    /// Makes the server send an event of a service to everybody, and returns when it has been sent.
    func emit(_ path: String, _ event: String, _ data: JSONValue) async throws {
        try await create("control", ["op": "emit", "service": .string(path), "event": .string(event), "data": data])
    }

    /// Calls a service's `create` over REST.
    @discardableResult
    func create(_ path: String, _ data: JSONValue) async throws -> JSONValue {
        var headers = HTTPHeaders()
        try headers.set("Content-Type", to: "application/json")
        let request = HTTPRequest(
            method: "POST", url: server.appending(path: path), headers: headers, body: try data.serialized(),
            timeout: .seconds(20))
        let response = try await TestControl.answer(to: request)
        guard response.status < 300 else { throw FeathersError(.generalError, "\(path) answered \(response.status)") }
        return try JSONValue(parsing: response.body)
    }
}
