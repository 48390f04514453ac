/// JSON:API's media type with the two parameters it may have (JSON:API 1.1, "Content Negotiation").
struct JSONAPIMediaType: Equatable {
    static let name = "application/vnd.api+json"

    var extensions: [String] = []
    var profiles: [String] = []

    /// The media type of a request's document: `ext` and `profile` exactly where they are applied, and never another parameter.
    var contentType: String {
        Self.name + Self.parameter("ext", extensions) + Self.parameter("profile", profiles)
    }

    /// What is accepted. Extensions are required; profiles are only wished for, so that a server that knows no parameters finds an offer without them.
    var accept: String {
        profiles.isEmpty ? contentType : "\(contentType), \(JSONAPIMediaType(extensions: extensions).contentType)"
    }

    private static func parameter(_ name: String, _ addresses: [String]) -> String {
        addresses.isEmpty ? "" : ";\(name)=\"\(addresses.joined(separator: " "))\""
    }
}
