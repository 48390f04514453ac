import FeathersCore

/// The record of a signed-in user as it is stored beside the tokens, with the name of the user to whom it belongs.
struct StoredUser: Sendable {
    /// Longer records are not stored: some storages are not made for them.
    private static let maximumLength = 64 * 1024

    let name: String
    let record: JSONValue
    let text: String

    init?(_ record: JSONValue, of name: String) {
        guard let bytes = try? JSONValue.object(["name": .string(name), "user": record]).serialized(),
            bytes.count <= Self.maximumLength
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        (self.name, self.record, self.text) = (name, record, text)
    }

    /// Reads what was stored.
    init?(_ text: String) {
        guard let value = try? JSONValue(parsing: text), let name = value["name"]?.string,
            let record = value["user"]
        else { return nil }
        (self.name, self.record, self.text) = (name, record, text)
    }
}

extension AuthenticationResult {
    /// The user to store with the tokens; nil if the response has none, or does not name its user.
    var storedUser: StoredUser? {
        guard let user, !user.isNull, let identityName else { return nil }
        return StoredUser(user, of: identityName)
    }
}
