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
