import Feathers
import HTTPTypes
import Hummingbird
import Logging

/// Gives each request an id, which appears in everything that is logged for the request
/// and in the response. An id that a proxy has given it is used instead.
struct RequestLogging<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let given = request.headers[.requestID].flatMap {
            $0.utf8.count <= 100 ? $0 : nil
        }
        let id = given ?? context.id
        var logger = context.logger
        logger[metadataKey: "request-id"] = "\(id)"
        return try await withLogger(logger) { logger in
            var response = try await next(request, context)
            logger.info("\(request.method) \(request.uri.path) \(response.status.code)")
            response.headers[.requestID] = id
            return response
        }
    }
}

/// Logs what an app reports. Calls are made in the task of their request, whose logger
/// has the request's id.
struct LogSink: DiagnosticSink {
    /// Logs what happens outside of requests, such as changes of the connection.
    let logger: Logger

    func receive(_ event: DiagnosticEvent) {
        var metadata = Logger.Metadata(
            uniqueKeysWithValues: event.attributes.map {
                ("\($0.name)", .string("\($0.value)"))
            })
        if let call = event.callID { metadata["call"] = .string("\(call)") }
        let logger =
            Logger.current[metadataKey: "request-id"] == nil ? logger : Logger.current
        logger.log(
            level: event.level.logLevel, "\(event.message)", metadata: metadata,
            source: event.domain.rawValue)
    }
}

/// Sends the id of the request on to the FeathersJS server, for its logs.
let requestID: AroundHook = { context, next in
    if case .string(let id)? = Logger.current[metadataKey: "request-id"] {
        context.params.headers["X-Request-Id"] = id
    }
    try await next(&context)
}

extension DiagnosticLevel {
    var logLevel: Logger.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}

extension HTTPField.Name {
    static let requestID = Self("X-Request-Id")!
}
