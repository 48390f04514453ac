import FeathersCore

/// The consequence of a failed attempt for its write.
struct SendVerdict: Sendable, Equatable {
    enum Course: Sendable, Equatable {
        /// The write is sent again, after the delay that the server requested, if any.
        case retry(after: Duration?)
        /// The server cannot be reached. All writes wait.
        case waitForServer
        /// All writes wait for a sign-in.
        case waitForSignIn
        /// A decision is needed.
        case ask(OutboxFailure.Reason)
    }

    let course: Course
    /// Whether this attempt may have been executed.
    let mayHaveExecuted: Bool

    init(_ error: FeathersError, isKeyed: Bool) {
        switch error.execution {
        case .neverSent:
            mayHaveExecuted = false
            switch error.code {
            case .notAuthenticated: course = .waitForSignIn
            case .timeout, .tooManyRequests, .generalError, .badGateway, .unavailable: course = .waitForServer
            default: course = .ask(.rejected)
            }
        case .mayHaveExecuted:
            mayHaveExecuted = true
            course = isKeyed ? .waitForServer : .ask(.unknown)
        case .answered:
            switch error.code.rawValue {
            // Signing in would change nothing for a server that doesn't get the token.
            case 401 where error.isFromUntrustedServer: (course, mayHaveExecuted) = (.ask(.rejected), false)
            case 401: (course, mayHaveExecuted) = (.waitForSignIn, false)
            case 429: (course, mayHaveExecuted) = (.retry(after: error.requestedDelay), false)
            case 409, 412: (course, mayHaveExecuted) = (.ask(.conflict), false)
            case 501: (course, mayHaveExecuted) = (.ask(.rejected), false)
            case 408, 500...:
                (course, mayHaveExecuted) = (isKeyed ? .retry(after: error.requestedDelay) : .ask(.unknown), true)
            case 400..<500: (course, mayHaveExecuted) = (.ask(.rejected), false)
            default: (course, mayHaveExecuted) = (.ask(.unknown), true)
            }
        }
    }
}

extension FeathersError {
    /// The delay that the server requested: in the header over REST, in the error's data over Socket.IO.
    fileprivate var requestedDelay: Duration? {
        if let retryAfter { return retryAfter }
        guard let seconds = data?["retryAfter"]?.number, seconds.isFinite, seconds >= 0 else { return nil }
        return .seconds(min(seconds, 1e9))
    }
}
