extension FeathersError {
    /// The number of an error class: FeathersJS' own, or any a server made up.
    public struct Code: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
        public let rawValue: Int

        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        public init(integerLiteral value: Int) {
            self.rawValue = value
        }
    }
}

extension FeathersError.Code {
    /// 400: the call is wrong as it is.
    public static let badRequest: Self = 400
    /// 401: nobody is signed in, or not with what this call needs.
    public static let notAuthenticated: Self = 401
    /// 402: it has to be paid for.
    public static let paymentError: Self = 402
    /// 403: whoever is signed in may not do this.
    public static let forbidden: Self = 403
    /// 404: there is no such record, or no such service.
    public static let notFound: Self = 404
    /// 405: the service does not have this method.
    public static let methodNotAllowed: Self = 405
    /// 406: the server has no form of the answer that the call accepts.
    public static let notAcceptable: Self = 406
    /// 408: it took too long; locally, a deadline passed.
    public static let timeout: Self = 408
    /// 409: it contradicts what is there.
    public static let conflict: Self = 409
    /// 410: it was there, and is no more.
    public static let gone: Self = 410
    /// 411: the length is missing.
    public static let lengthRequired: Self = 411
    /// 422: the form is right, the content is not.
    public static let unprocessable: Self = 422
    /// 429: too many calls; ``FeathersError/retryAfter`` may say when to come back.
    public static let tooManyRequests: Self = 429
    /// 500: something went wrong that has no better name.
    public static let generalError: Self = 500
    /// 501: nobody has implemented this.
    public static let notImplemented: Self = 501
    /// 502: a server behind the server gave no good answer.
    public static let badGateway: Self = 502
    /// 503: the service cannot be reached now; locally, there is no connection.
    public static let unavailable: Self = 503

    /// The 17 classes of `@feathersjs/errors`: code, `name`, `className`.
    package static let classes: [(code: Self, name: String, className: String)] = [
        (.badRequest, "BadRequest", "bad-request"),
        (.notAuthenticated, "NotAuthenticated", "not-authenticated"),
        (.paymentError, "PaymentError", "payment-error"),
        (.forbidden, "Forbidden", "forbidden"),
        (.notFound, "NotFound", "not-found"),
        (.methodNotAllowed, "MethodNotAllowed", "method-not-allowed"),
        (.notAcceptable, "NotAcceptable", "not-acceptable"),
        (.timeout, "Timeout", "timeout"),
        (.conflict, "Conflict", "conflict"),
        (.gone, "Gone", "gone"),
        (.lengthRequired, "LengthRequired", "length-required"),
        (.unprocessable, "Unprocessable", "unprocessable"),
        (.tooManyRequests, "TooManyRequests", "too-many-requests"),
        (.generalError, "GeneralError", "general-error"),
        (.notImplemented, "NotImplemented", "not-implemented"),
        (.badGateway, "BadGateway", "bad-gateway"),
        (.unavailable, "Unavailable", "unavailable"),
    ]

    /// The class's name (`NotFound`), or nil for a code FeathersJS has no class for.
    public var name: String? {
        Self.classes.first { $0.code == self }?.name
    }

    /// The class's CSS-like name (`not-found`), or nil for a code FeathersJS has no class for.
    public var className: String? {
        Self.classes.first { $0.code == self }?.className
    }

    /// Lets `catch FeathersError.Code.notFound` match by code.
    public static func ~= (code: Self, error: any Error) -> Bool {
        (error as? FeathersError)?.code == code
    }
}
