import FeathersCore

/// What an access token must be before it is put into a header.
enum AccessToken {
    /// The longest token accepted, in bytes.
    static let maximumLength = 64 << 10

    /// - Throws: a ``FeathersError`` with the given code, which does not show the token, where it is longer than ``maximumLength`` or has other
    ///   characters than visible ASCII: a line break would begin another header field.
    static func check(_ token: String, _ code: FeathersError.Code) throws(FeathersError) {
        let bytes = token.utf8
        guard bytes.count <= maximumLength else {
            throw FeathersError(
                code, "The access token has \(bytes.count) bytes, and at most \(maximumLength) are accepted", execution: .answered)
        }
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw FeathersError(code, "The access token has characters that no header may carry", execution: .answered)
        }
    }
}
