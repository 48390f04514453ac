import FeathersCore
import FeathersNetworking
import FeathersREST
import FeathersSupport
import Foundation

@testable import FeathersTesting

/// A model server as FeathersJS 6: calls over HTTP, and event streams whose user is that of the request that opened
/// them.
final class ModelStreams: StreamingHTTPClient {
    private let server: ModelServer

    init(of server: ModelServer) { self.server = server }

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard !server.state.current.isAway else { throw Self.away }
        let detour = server.state.update { $0.web?.detour(of: request) }
        if detour?.isBefore == true, let response = detour?.response { return response }
        let call = try Self.call(request, arrayLimit: server.state.current.web?.arrayLimit ?? 1000)
        if let array = call.params.query.json.brokenArray { server.state.update { $0.web?.faults.append(array) } }
        let (result, hold) = server.answer(call, from: .http)
        try await hold?.value()
        if let response = detour?.response { return response }
        switch result {
        case .success(let value): return HTTPResponse(status: 200, body: try value.serialized(), url: request.url)
        case .failure(let error):
            return HTTPResponse(status: error.code.rawValue, body: try error.wireForm.serialized(), url: request.url)
        }
    }

    func execute(_ transfer: HTTPTransfer) async throws -> HTTPResponse {
        guard let pipe = transfer.pipe else {
            // An upload.
            var request = transfer.request
            request.body = try await transfer.body?.bytes()
            return try await execute(request)
        }
        let end = Promise<Void>()
        let token = transfer.request.headers["Authorization"].map { String($0.dropFirst("Bearer ".count)) }
        let number = server.open(ModelServer.Stream(pipe: pipe, end: end), token: token) {
            let fields: [HTTPHeaders.Field] = [("Content-Type", "text/event-stream")]
            pipe.open(HTTPResponse(status: 200, headers: HTTPHeaders(received: fields), url: transfer.request.url)) {}
        }
        guard let number else { throw Self.away }
        defer { server.state.update { $0.streams[number] = nil } }
        try await end.value()
        return HTTPResponse(status: 200, url: transfer.request.url)
    }

    private static let away = HTTPClientError(.cannotConnect, "The server cannot be reached", delivery: .neverSent)

    /// The call of a request, with numbers where the query has digits.
    /// - Parameter arrayLimit: The number of elements from which on an array is an object.
    private static func call(_ request: HTTPRequest, arrayLimit: Int) throws -> ServiceRequest {
        let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: false)
        let path = (parts?.path ?? "").split(separator: "/").map(String.init)
        var query = JSONValue.object([:])
        for item in parts?.queryItems ?? [] {
            let steps = item.name.split(separator: "[").map { $0.last == "]" ? String($0.dropLast()) : String($0) }
            query.insert(Int64(item.value ?? "").map { .integer($0) } ?? .string(item.value ?? ""), at: steps[...])
        }
        query = query.withArrays(upTo: arrayLimit)
        let id = path.count > 1 ? ServiceID(path[1]) : nil
        let method: ServiceMethod =
            switch request.method {
            case "POST": .create
            case "PUT": .update
            case "PATCH": .patch
            case "DELETE": .remove
            default: id == nil ? .find : .get
            }
        var params = Params(query: Query(query.object ?? [:]))
        for field in request.headers { params.headers[field.name] = field.value }
        return ServiceRequest(
            path: path[0], method: method, id: id, data: try request.body.map { try JSONValue(parsing: $0) },
            params: params)
    }
}

extension JSONValue {
    /// This value with arrays in place of objects whose keys are indices, as `qs` reads them.
    fileprivate func withArrays(upTo limit: Int) -> JSONValue {
        guard let object else { return self }
        let values = object.map { ($0.key, $0.value.withArrays(upTo: limit)) }
        let indices = values.compactMap { Int($0.0) }
        guard !values.isEmpty, indices == Array(values.indices), values.count <= limit else {
            return .object(JSONObject(values))
        }
        return .array(values.map(\.1))
    }

    fileprivate mutating func insert(_ value: JSONValue, at steps: ArraySlice<String>) {
        guard let first = steps.first else {
            self = value
            return
        }
        var object = object ?? [:]
        object[first, default: [:]].insert(value, at: steps.dropFirst())
        self = .object(object)
    }
}

extension JSONObject {
    /// The operator whose array has become an object; nil if there is none.
    fileprivate var brokenArray: String? {
        for (name, value) in self {
            guard let object = value.object else { continue }
            if ["$in", "$nin", "$or", "$and", "$select"].contains(name) { return name }
            if let array = object.brokenArray { return array }
        }
        return nil
    }
}

extension ModelServer {
    /// An event stream.
    struct Stream: Sendable {
        let pipe: HTTPBodyPipe
        /// Settled when the connection is lost.
        let end: Promise<Void>
        /// Whom the server sends it to, as long as it lasts.
        var user: String?

        func send(_ event: JSONValue) {
            let text = (try? event.serialized()) ?? []
            (Array("data: ".utf8) + text + [10, 10]).withUnsafeBytes { _ = pipe.write($0) }
        }
    }

    /// Opens a stream and greets it, before any event.
    /// - Returns: its number; nil while the server cannot be reached.
    func open(_ stream: Stream, token: String?, _ begin: () -> Void) -> Int? {
        turn.withLock {
            let number: Int? = state.update { state in
                guard !state.isAway else { return nil }
                var stream = stream
                stream.user = token.flatMap { state.tokens[$0] }
                state.opened += 1
                state.streams[state.opened] = stream
                return state.opened
            }
            guard number != nil else { return nil }
            begin()
            stream.send(["event": "connected", "data": [:], "path": "sse"])
            return number
        }
    }

    /// Cuts every event stream.
    func cutStreams() {
        for stream in state.current.streams.values {
            stream.end.fail(HTTPClientError(.connectionLost, "The connection was lost", delivery: .mayHaveExecuted))
        }
    }

    /// Sends an event to the streams that may see it.
    func sendToStreams(_ event: Event) {
        let owner = ModelServer.protected.contains(event.path) ? event.record["owner"]?.string : nil
        for stream in state.current.streams.values where owner == nil || owner == stream.user {
            stream.send([
                "event": .string(event.name.rawValue), "path": .string(event.path),
                "data": Self.told(event.record, to: stream.user),
            ])
        }
    }
}
