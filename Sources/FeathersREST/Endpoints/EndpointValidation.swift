import FeathersCore
import FeathersNetworking

/// Decides whether an answer counts as a success: the endpoint's own function first, then the status, then the content type.
struct EndpointValidation {
    private let endpoint: EndpointBlueprint

    init(_ endpoint: EndpointBlueprint) {
        self.endpoint = endpoint
    }

    /// - Throws: what the endpoint's own function throws, the server's ``FeathersError``, or one that names the two content types.
    func check(_ response: HTTPResponse, accept: String?) throws {
        try endpoint.validate?(response)
        guard response.isSuccess else { throw RESTAnswer.error(of: response) }
        // Our own Accept is a wish: whether the answer is JSON, reading it will tell better. What somebody asked for is meant.
        guard let accept, accept != endpoint.kind.accept, !response.body.isEmpty, let type = response.headers["Content-Type"],
            let mediaType = MediaType(type), !mediaType.isAccepted(by: accept)
        else { return }
        var error = FeathersError(.generalError, "The server answered with '\(type)' where '\(accept)' was asked for")
        error.answer = FeathersError.Answer(status: response.status, body: response.body)
        throw error
    }
}
