import Synchronization

/// Reports the start, retries and end of a call.
struct CallReporter: Sendable {
    let diagnostics: Diagnostics
    /// The request before hooks change it.
    private let request: ServiceRequest
    private let path: String
    private let start = ContinuousClock.now

    init(_ diagnostics: Diagnostics, path: String, request: ServiceRequest) {
        self.diagnostics = diagnostics.beginningCall()
        self.path = path
        self.request = request
    }

    func began() {
        diagnostics.report(.trace, .calls) { detail in
            let (target, attributes) = call(detail)
            return (target, attributes, attributes.count)
        }
    }

    func succeeded(with response: ServiceResponse?) {
        ended(.info, "ok", error: nil) { detail, attributes in
            if let response, detail.isVerbose, let text = detail.body(response.result) {
                attributes.append(text, as: .result)
            }
        }
    }

    func failed(_ error: any Error) {
        if error is CancellationError { return ended(.info, "cancelled", error: error) }
        guard let failure = (error as? FeathersError)?.failure, failure != ownFailure else {
            return ended(error.isRefusal ? .warning : .error, "failed", error: error)
        }
        // A call within this one has failed, so the failure may have been reported already.
        let isKnown = diagnostics.call?.reportedFailure == failure
        ended(isKnown ? .info : error.isRefusal ? .warning : .error, "failed", error: error)
    }

    private var ownFailure: CallTrace.Failure { CallTrace.Failure(path: path, method: request.method) }

    private func ended(
        _ level: DiagnosticLevel, _ outcome: String, error: (any Error)?,
        _ addDetail: (DiagnosticDetail, inout DiagnosticAttributes) -> Void = { _, _ in }
    ) {
        guard diagnostics.wants(level, .calls) else { return }
        if outcome == "failed" {
            // The call has ended, so the task's current call is the one around it.
            Diagnostics.current.call?.reportedFailure = (error as? FeathersError)?.failure ?? ownFailure
        }
        let duration = start.duration(to: .now)
        diagnostics.report(level, .calls, error: error) { detail in
            var (message, attributes) = call(detail)
            message += " \(outcome)"
            attributes.append(.string(outcome), as: .outcome)
            if let error, outcome == "failed" {
                message += ": \(detail.redaction.redact(text: error.loggedText))"
                if let error = error as? FeathersError { attributes.append(.integer(error.code.rawValue), as: .code) }
                attributes.append(.string((error as? FeathersError)?.name ?? "\(type(of: error))"), as: .error)
            }
            message += " (\(duration.wholeMilliseconds) ms)"
            attributes.append(.duration(duration), as: .duration)
            let toldCount = attributes.count
            addContext(detail, &attributes)
            addDetail(detail, &attributes)
            return (message, attributes, toldCount)
        }
    }

    /// Returns the target of the call, as text and as attributes.
    private func call(_ detail: DiagnosticDetail) -> (target: String, attributes: DiagnosticAttributes) {
        let path = detail.redaction.redact(text: path)
        var attributes: DiagnosticAttributes = [.path: .string(path), .method: .string(request.method.rawValue)]
        guard let id = request.id else { return ("\(request.method) \(path)", attributes) }
        let text = detail.redaction.redact(text: id.description)
        attributes.append(.string(text), as: .id)
        return ("\(request.method) \(path)/\(text)", attributes)
    }

    private func addContext(_ detail: DiagnosticDetail, _ attributes: inout DiagnosticAttributes) {
        let retries = diagnostics.call?.retries.load(ordering: .relaxed) ?? 0
        if retries > 0 { attributes.append(.integer(retries + 1), as: .attempt) }
        if let transport = diagnostics.call?.transport { attributes.append(.string(transport), as: .transport) }
        // The call has ended, so the task's current call is its parent.
        if let parent = Diagnostics.current.callID { attributes.append(.string("\(parent)"), as: .parent) }
        let query = request.params.query
        if !query.isEmpty { attributes.append(.json(.object(detail.redaction.redact(query.json))), as: .query) }
        if let headers = detail.headers(request.params.headers.sorted { $0.key < $1.key }) {
            attributes.append(headers, as: .headers)
        }
        if let data = request.data.flatMap({ detail.body($0) }) { attributes.append(data, as: .data) }
    }
}

extension Diagnostics {
    func retrying(_ method: ServiceMethod, _ path: String, after error: FeathersError, pause: Duration) {
        let attempt = (call?.retries.add(1, ordering: .relaxed).newValue ?? 0) + 1
        log(
            .notice, .calls, "\(method) \(path) will be retried in \(pause.wholeMilliseconds) ms after \(error)",
            [
                .path: .string(path), .method: .string(method.rawValue), .attempt: .integer(attempt),
                .duration: .duration(pause),
                .code: .integer(error.code.rawValue),
            ], error: error)
    }
}

extension FeathersError {
    /// The call that failed.
    fileprivate var failure: CallTrace.Failure? {
        guard let path, let method else { return nil }
        return CallTrace.Failure(path: path, method: method)
    }
}

extension Error {
    /// The text of an error for logs: class, code and message of Feathers errors, and only the type of others, whose
    /// text may contain secrets.
    fileprivate var loggedText: String { (self as? FeathersError).map { "\($0)" } ?? "\(type(of: self))" }

    /// Whether a server or a hook rejected the call, as opposed to a transport failure.
    fileprivate var isRefusal: Bool {
        guard let error = self as? FeathersError else { return false }
        return (400..<500).contains(error.code.rawValue) && error.execution == .answered
    }
}
