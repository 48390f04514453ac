import FeathersCore

/// The consequence of a failed attempt for its write.
struct SendVerdict: Sendable, Equatable {
    enum Course: Sendable, Equatable {
        /// The write is sent again, after the delay that the server requested, if any.
        case retry(after: Duration?)
        /// The server cannot be reached. All writes wait.
        case waitForServer
        /// The app shut down before the attempt ended. The write is sent again.
        case again
        /// All writes wait for a sign-in.
        case waitForSignIn
        /// A decision is needed.
        case ask(OutboxFailure.Reason)
    }

    let course: Course
    /// What is known of this attempt.
    let execution: FeathersError.Execution

    init(_ error: FeathersError, isKeyed: Bool) {
        switch error.execution {
        case .neverSent:
            execution = .neverSent
            switch error.code {
            case .notAuthenticated: course = .waitForSignIn
            case .timeout, .tooManyRequests, .generalError, .badGateway, .unavailable: course = .waitForServer
            default: course = .ask(.rejected)
            }
        case .mayHaveExecuted:
            execution = .mayHaveExecuted
            course = isKeyed ? .waitForServer : .ask(.unknown)
        case .answered:
            switch error.code.rawValue {
            // Signing in would change nothing for a server that doesn't get the token.
            case 401 where error.isFromUntrustedServer: (course, execution) = (.ask(.rejected), .answered)
            case 401: (course, execution) = (.waitForSignIn, .answered)
            case 429: (course, execution) = (.retry(after: error.requestedDelay), .answered)
            case 409, 412: (course, execution) = (.ask(.conflict), .answered)
            case 501: (course, execution) = (.ask(.rejected), .answered)
            case 408, 500...:
                execution = .mayHaveExecuted
                course = isKeyed ? .retry(after: error.requestedDelay) : .ask(.unknown)
            case 400..<500: (course, execution) = (.ask(.rejected), .answered)
            default: (course, execution) = (.ask(.unknown), .mayHaveExecuted)
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
