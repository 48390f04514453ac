import FeathersCore

extension FeathersError {
    /// Something about the call itself that cannot be sent: the caller has to change it.
    static func refused(_ message: String) -> FeathersError {
        FeathersError(.badRequest, message, execution: .neverSent)
    }

    /// There is no connection to send the call over.
    static func notConnected(_ why: String) -> FeathersError {
        FeathersError(.unavailable, why, execution: .neverSent)
    }

    /// More bytes than the server, or this transport, accepts.
    static func tooLarge(_ size: Int, limit: Int) -> FeathersError {
        var error = FeathersError(413, "The call has \(size) bytes, and at most \(limit) are accepted", execution: .neverSent)
        (error.name, error.className) = ("PayloadTooLarge", "payload-too-large")
        return error
    }
}
