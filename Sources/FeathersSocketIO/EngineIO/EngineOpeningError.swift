/// Why a session could not be opened, in one sentence.
struct EngineOpeningError: Error, Sendable, CustomStringConvertible {
    let description: String
    /// Whether it took too long.
    let isTimeout: Bool

    init(_ description: String, isTimeout: Bool = false) {
        self.description = description
        self.isTimeout = isTimeout
    }

    init(_ closure: EngineClosure) {
        let description =
            switch closure.reason {
            case .closed: "The connection was closed while it was opened"
            case .lost: "The server closed the connection before the session was open"
            case .failed(let message), .invalid(let message): message
            }
        self.init(description)
    }
}
