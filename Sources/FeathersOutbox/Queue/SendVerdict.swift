import FeathersCore

/// What a failed attempt means for the write.
struct SendVerdict: Sendable, Equatable {
    enum Course: Sendable, Equatable {
        /// It is tried again; not before a delay, where the server asked for one.
        case retry(after: Duration?)
        /// The server can not be reached: everything else waits too.
        case waitForServer
        /// It waits for a sign-in, as everything else does.
        case waitForSignIn
        /// Somebody has to decide.
        case ask(OutboxFailure.Reason)
    }

    let course: Course
    /// Whether this attempt may have been executed.
    let mayHaveExecuted: Bool

    /// - Parameter isKeyed: whether the server executes a write once however often it comes with its key.
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
            case 401: (course, mayHaveExecuted) = (.waitForSignIn, false)
            case 429: (course, mayHaveExecuted) = (.retry(after: error.requestedDelay), false)
            case 409, 412: (course, mayHaveExecuted) = (.ask(.conflict), false)
            case 501: (course, mayHaveExecuted) = (.ask(.rejected), false)
            case 408, 500...: (course, mayHaveExecuted) = (isKeyed ? .retry(after: error.requestedDelay) : .ask(.unknown), true)
            case 400..<500: (course, mayHaveExecuted) = (.ask(.rejected), false)
            default: (course, mayHaveExecuted) = (.ask(.unknown), true)
            }
        }
    }
}

extension FeathersError {
    /// How long the server asked to wait: in the header over REST, in the error's data over Socket.IO.
    fileprivate var requestedDelay: Duration? {
        if let retryAfter { return retryAfter }
        guard let seconds = data?["retryAfter"]?.number, seconds.isFinite, seconds >= 0 else { return nil }
        return .seconds(min(seconds, 1e9))
    }

    /// A failure that says nothing of the call: a hook's own error, or a cancellation that was none of the outbox'.
    init(unexplained error: any Error) {
        self.init(.generalError, "The call ended with \(type(of: error))", execution: .mayHaveExecuted, cause: error)
    }
}
