extension FeathersError {
    /// An answer that is no such model: the text tells where, and what kind of value was there, never the value.
    /// - Parameter what: whose answer it is, as in `A result of service 'messages'`.
    package static func undecodable(_ what: String, as model: Any.Type, _ error: any Error) -> FeathersError {
        FeathersError(.generalError, "\(what) is no \(model): \(explanation(of: error))", cause: error)
    }

    private static func explanation(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return String(describing: error) }
        func place(_ context: DecodingError.Context) -> String {
            context.codingPath.isEmpty ? "at the top" : "at '\(context.codingPath.map(step).joined(separator: "."))'"
        }
        switch error {
        case .keyNotFound(let key, let context): return "'\(key.stringValue)' is missing \(place(context))"
        case .valueNotFound(let type, let context): return "\(type) is null \(place(context))"
        case .typeMismatch(let type, let context): return "no \(type) but \(found(context)) \(place(context))"
        case .dataCorrupted(let context): return "\(withoutValue(context.debugDescription)) \(place(context))"
        @unknown default: return "it can not be decoded"
        }
    }

    private static func step(_ key: any CodingKey) -> String {
        key.intValue.map(String.init) ?? key.stringValue
    }

    /// The kind of value that a decoder says it found.
    private static func found(_ context: DecodingError.Context) -> String {
        let kinds = ["a boolean", "a number", "a string", "an array", "an object"]
        return kinds.first { context.debugDescription.contains("found \($0) instead") } ?? "something else"
    }

    /// The standard library quotes what is no case of an enumeration: "… from invalid String value secret".
    private static func withoutValue(_ description: String) -> String {
        description.components(before: " from invalid ")
    }
}

extension String {
    /// What comes before the first occurrence of a text, or all of it.
    fileprivate func components(before text: String) -> String {
        firstRange(of: text).map { String(self[..<$0.lowerBound]) } ?? self
    }
}
