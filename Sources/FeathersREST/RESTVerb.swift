import FeathersCore

/// The HTTP method a service method travels as.
enum RESTVerb: String, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"

    init(_ method: ServiceMethod) {
        self =
            switch method {
            case .find, .get: .get
            case .update: .put
            case .patch: .patch
            case .remove: .delete
            // create, and custom methods, which name themselves in X-Service-Method.
            default: .post
            }
    }

    /// Whether requests with this verb have a body, or could.
    var carriesData: Bool {
        switch self {
        case .post, .put, .patch: true
        case .get, .delete: false
        }
    }
}
