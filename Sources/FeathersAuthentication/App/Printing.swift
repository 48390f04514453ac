public import FeathersSupport

// Hides the tokens of a storage, and the fields of a refresh request, from printing and dumping.

extension AuthenticationOptions: SecretHiding {
    public var description: String {
        "AuthenticationOptions(path: \(path), header: \(header), storage: \(summarize(storage)))"
    }
}

extension TokenRefresh: SecretHiding {
    public var description: String {
        switch kind {
        case .none: "TokenRefresh.none"
        case .function: "TokenRefresh.function"
        case .service(let path, _, _): "TokenRefresh.service(\(path.debugDescription))"
        }
    }
}
