public import FeathersSupport

// Hides the tokens of a storage, and the fields of a refresh request, from printing and dumping.

extension AuthenticationOptions: SecretHiding, Summarized {
    package var summary: String { "AuthenticationOptions(path: \(path), header: \(header), storage: \(summarize(storage)))" }
}

extension TokenRefresh: SecretHiding, Summarized {
    package var summary: String {
        switch kind {
        case .none: "TokenRefresh.none"
        case .function: "TokenRefresh.function"
        case .service(let path, _, _): "TokenRefresh.service(\(path.debugDescription))"
        }
    }
}
