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
    public static let badRequest: Self = 400
    public static let notAuthenticated: Self = 401
    public static let paymentError: Self = 402
    public static let forbidden: Self = 403
    public static let notFound: Self = 404
    public static let methodNotAllowed: Self = 405
    public static let notAcceptable: Self = 406
    public static let timeout: Self = 408
    public static let conflict: Self = 409
    public static let gone: Self = 410
    public static let lengthRequired: Self = 411
    public static let unprocessable: Self = 422
    public static let tooManyRequests: Self = 429
    public static let generalError: Self = 500
    public static let notImplemented: Self = 501
    public static let badGateway: Self = 502
    public static let unavailable: Self = 503

    /// The 17 classes of `@feathersjs/errors`: code, `name`, `className`.
    public static let classes: [(code: Self, name: String, className: String)] = [
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
