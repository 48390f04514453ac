/// A sentence for people about a failure, by its kind.
///
/// ```swift
/// if let error = model.error { Text(error.userMessage) }
/// ```
/// The sentences are in English, contain nothing of the server or the app, and may change. To localize them, translate
/// the kinds:
///
/// ```swift
/// Text(LocalizedStringKey("feathers." + UserMessage(error).rawValue))
/// ```
public enum UserMessage: String, Sendable, Hashable, CaseIterable {
    /// The server cannot be reached, and nothing was sent.
    case offline
    /// The connection was lost before the response, so a change may have been made.
    case uncertain
    /// The server has too much to do, or a part of it has failed.
    case unavailable
    /// No one is signed in, or the server did not accept the sign-in (401).
    case signedOut
    /// The user is not allowed to do this (402, 403, 405).
    case refused
    /// The record does not exist, or no longer (404, 410).
    case missing
    /// The record has changed in the meantime, or another one is in the way (409, 412).
    case conflict
    /// The server does not accept the data (400, 413, 422).
    case invalid
    /// The task was cancelled. Show nothing.
    case cancelled
    /// Any other failure.
    case failed

    /// Creates the message of an error.
    public init(_ error: any Error) {
        guard let error = error as? FeathersError else {
            self = error is CancellationError ? .cancelled : .failed
            return
        }
        self =
            switch error.code {
            case .unavailable, .timeout, .badGateway, .tooManyRequests, 504:
                switch error.execution {
                case .answered: .unavailable
                case .neverSent: .offline
                case .mayHaveExecuted: error.mayHaveChanged ? .uncertain : .offline
                }
            case .notAuthenticated: .signedOut
            case .paymentError, .forbidden, .methodNotAllowed: .refused
            case .notFound, .gone: .missing
            case .conflict, 412: .conflict
            case .badRequest, .unprocessable, 413: .invalid
            default: .failed
            }
    }

    /// The sentence, in English.
    public var text: String {
        switch self {
        case .offline: "The server can't be reached. Check your connection and try again."
        case .uncertain: "The connection was lost. Check whether your change was saved before you try again."
        case .unavailable: "The server is unavailable at the moment. Try again later."
        case .signedOut: "You aren't signed in, or the sign-in wasn't accepted. Sign in and try again."
        case .refused: "You don't have permission to do this."
        case .missing: "This doesn't exist anymore."
        case .conflict: "This was changed in the meantime. Check the current version and try again."
        case .invalid: "Something isn't valid. Check your entries and try again."
        case .cancelled: "This was cancelled."
        case .failed: "Something went wrong. Try again later."
        }
    }
}

extension Error {
    /// A sentence for people, in English: the text of the error's ``UserMessage``.
    public var userMessage: String { UserMessage(self).text }
}

extension FeathersError {
    /// Whether the call may have changed something if the server has executed it.
    fileprivate var mayHaveChanged: Bool {
        switch method {
        case .find, .get: false
        default: true
        }
    }
}
