import Feathers
import Hummingbird

/// Responds to failed calls with the HTTP status of their error, in the form in which
/// FeathersJS sends errors.
struct FeathersErrors<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as FeathersError {
            return try Response(error)
        }
    }
}

extension Response {
    init(_ error: FeathersError) throws {
        var shown = error
        // The messages of such errors name servers and causes, which clients must not
        // see. The log has them. A timeout is 504 in the body too: 408 would say that the
        // client was slow.
        if error.httpStatus >= 500, error.execution != .answered {
            shown = FeathersError(
                FeathersError.Code(rawValue: error.httpStatus),
                "The server did not respond", execution: error.execution)
        }
        var headers: HTTPFields = [.contentType: "application/json"]
        if let delay = error.retryAfter {
            // Rounded up, so that the client does not come too early.
            let isWhole = delay.components.attoseconds == 0
            headers[.retryAfter] = "\(delay.components.seconds + (isWhole ? 0 : 1))"
        }
        self.init(
            status: .init(code: error.httpStatus), headers: headers,
            body: ResponseBody(
                byteBuffer: ByteBuffer(bytes: try shown.wireForm.serialized())))
    }
}
