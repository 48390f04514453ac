import FeathersCore

extension FeathersError {
    static var loggedOut: FeathersError {
        FeathersError(.notAuthenticated, "The app logged out before the sign-in completed", execution: .neverSent)
    }
}

extension Error {
    /// Whether the server has refused. Like FeathersJS' client, this treats the codes from 401 to 407 as a refusal.
    var isRejection: Bool {
        guard let error = self as? FeathersError, error.execution == .answered else { return false }
        return (401...407).contains(error.code.rawValue)
    }

    /// Whether a request failed because the connection was lost.
    var isConnectionLoss: Bool { (self as? FeathersError)?.code == .unavailable && !isAnswer }

    /// Whether the error is the server's response.
    var isAnswer: Bool { (self as? FeathersError)?.execution == .answered }
}
