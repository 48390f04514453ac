package import FeathersCore
package import FeathersNetworking

extension FeathersError {
    package init(_ error: HTTPClientError) {
        let code: Code =
            switch error.kind {
            case .invalidURL, .invalidHeader, .unreadableFile: .badRequest
            case .hostNotFound, .cannotConnect, .tls, .overloaded, .connectionLost, .methodChanged, .closed:
                .unavailable
            case .timeout: .timeout
            case .badResponse, .tooManyRedirects, .invalidRedirect: .badGateway
            case .responseTooLarge, .unwritableFile, .other: .generalError
            }
        let place = error.host.map { " (\($0))" } ?? ""
        let execution: Execution = error.delivery == .neverSent ? .neverSent : .mayHaveExecuted
        self.init(code, error.message + place, execution: execution, cause: error)
    }
}
