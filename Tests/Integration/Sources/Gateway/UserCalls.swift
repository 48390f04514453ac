import Feathers
import Hummingbird

/// Makes the calls of a request as the user whose token it carries. The FeathersJS server
/// checks the token and decides what that user may do.
struct UserCalls<Context: RequestContext>: RouterMiddleware {
    let app: FeathersApp

    func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let field = request.headers[.authorization] ?? ""
        // Calls without a token would be refused too, but not before they are made.
        guard field.lowercased().hasPrefix("bearer ") else {
            throw FeathersError(.notAuthenticated, "The request needs a bearer token")
        }
        // The calls end before the load balancer gives up the request.
        return try await app.withDeadline(.seconds(10)) {
            try await app.withToken(String(field.dropFirst(7))) {
                try await next(request, context)
            }
        }
    }
}
