extension FeathersError {
    /// The HTTP status with which your own server passes on this error, from 400 to 599.
    ///
    /// It is the error's code, with two exceptions. A ``Code-swift.struct/timeout`` is 504, because 408 would say that
    /// *your* caller was too slow, and some clients repeat such a request automatically. A code that is not an HTTP
    /// status of an error, such as one that a server has made up, is 500. Failures on the way to the server need no
    /// exception: ``Code-swift.struct/unavailable`` is 503.
    public var httpStatus: Int {
        switch code {
        case .timeout: 504
        case _ where (400...599).contains(code.rawValue): code.rawValue
        default: 500
        }
    }

    /// Whether the error says that the server is unwell, or was not reached, rather than something about this call.
    ///
    /// A `generalError` is often the fault of one call, so it does not count.
    package var saysServerIsUnwell: Bool {
        switch code {
        case .unavailable, .badGateway, .timeout, 504: true
        default: false
        }
    }
    /// Whether the call reached the server; nil if the error does not say so.
    ///
    /// A response from a proxy that cannot reach its server counts as not reached. A server that responds with a
    /// Feathers error counts as reached, even if one of its services fails.
    package var reachedServer: Bool? {
        guard saysServerIsUnwell else { return execution == .answered ? true : nil }
        if execution == .answered, response == nil { return true }
        // A call that was sent and timed out may just be slow.
        return code == .timeout && execution != .neverSent ? nil : false
    }
}
