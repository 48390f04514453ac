/// A transport that can leave a result as the text it came in, where the request asks for it with ``ServiceRequest/resultText``.
package protocol TextTransport: Transport {}

/// Where a transport leaves the text of a result, in place of its tree, for a caller who makes a model of it.
///
/// Such a transport returns JSON null then. One request has one of its own, so that no two answers meet in it.
package final class ResultText: Sendable {
    private let text = Locked<JSONText?>(nil)

    package init() {}

    package func leave(_ text: JSONText) {
        self.text.withLock { $0 = text }
    }

    var left: JSONText? { text.withLock { $0 } }
}

/// A service that can give a result as the text it came in.
package protocol TextService: ServiceProtocol {
    var givesText: Bool { get }

    /// The method's result, as its text where there is one.
    func result(of request: ServiceRequest) async throws -> CallResult
}

extension TransportService: TextService {
    package var givesText: Bool { transport is any TextTransport }

    package func result(of request: ServiceRequest) async throws -> CallResult {
        let resultText = ResultText()
        var request = request
        request.resultText = resultText
        let value = try await respond(to: request)
        return resultText.left.map(CallResult.text) ?? .value(value)
    }
}
