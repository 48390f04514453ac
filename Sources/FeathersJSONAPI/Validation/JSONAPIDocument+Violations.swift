public import FeathersCore

extension JSONAPIDocument {
    /// What a document is for, which decides what it must hold.
    public enum Role: Hashable, Sendable {
        /// An answer of a server.
        case response
        /// An answer to a request with sparse fieldsets: what links an included resource may have been left out.
        case sparseResponse
        /// The request that creates a resource: it may have no id, and its relationships must have data.
        case creation
        /// The request that changes a resource: it must have an id.
        case update
        /// The request that changes a relationship: its data are identifiers.
        case relationship
    }

    /// Everything in a document that breaks the specification (JSON:API 1.1), each with its place.
    public static func violations(in json: JSONValue, as role: Role = .response) -> [JSONAPIError] {
        var validator = DocumentValidator(role: role)
        validator.checkDocument(json)
        return validator.violations
    }
}
