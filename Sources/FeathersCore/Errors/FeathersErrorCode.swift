extension FeathersError {
    /// The code of an error class, either one of FeathersJS' own or one that a server defines.
    public struct Code: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }
        public init(integerLiteral value: Int) { self.rawValue = value }
    }
}

extension FeathersError.Code {
    /// 400: the call is invalid.
    public static let badRequest: Self = 400
    /// 401: the call requires a sign-in, or a different user.
    public static let notAuthenticated: Self = 401
    /// 402: the call requires a payment.
    public static let paymentError: Self = 402
    /// 403: the user is not allowed to make this call.
    public static let forbidden: Self = 403
    /// 404: the record or service does not exist.
    public static let notFound: Self = 404
    /// 405: the service does not have this method.
    public static let methodNotAllowed: Self = 405
    /// 406: the server cannot respond in a format that the call accepts.
    public static let notAcceptable: Self = 406
    /// 408: the call took too long; locally, its deadline passed.
    public static let timeout: Self = 408
    /// 409: the call conflicts with existing data.
    public static let conflict: Self = 409
    /// 410: the record no longer exists.
    public static let gone: Self = 410
    /// 411: the request has no length.
    public static let lengthRequired: Self = 411
    /// 422: the format is valid, the content is not.
    public static let unprocessable: Self = 422
    /// 429: too many calls. ``FeathersError/retryAfter`` may contain the time to wait.
    public static let tooManyRequests: Self = 429
    /// 500: any other failure.
    public static let generalError: Self = 500
    /// 501: the method is not implemented.
    public static let notImplemented: Self = 501
    /// 502: an upstream server failed, or the response was invalid.
    public static let badGateway: Self = 502
    /// 503: the service is unavailable; locally, there is no connection.
    public static let unavailable: Self = 503

    /// The 17 classes of `@feathersjs/errors`, each with its code, `name` and `className`.
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

    /// The name of FeathersJS' class for the code, such as `NotFound`; nil if there is none.
    public var name: String? { Self.classes.first { $0.code == self }?.name }
    /// The CSS-like name of FeathersJS' class for the code, such as `not-found`; nil if there is none.
    package var className: String? { Self.classes.first { $0.code == self }?.className }

    /// Returns whether an error has the code, so that `catch FeathersError.Code.notFound` works.
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? FeathersError)?.code == code }
}
