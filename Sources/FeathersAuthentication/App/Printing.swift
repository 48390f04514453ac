public import FeathersSupport

// What settings show when printed or dumped: no tokens of a storage, and no fields that are sent to refresh one.

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
