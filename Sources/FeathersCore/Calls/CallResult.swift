/// What a call came to: a value, or the text that says it, which nobody has read yet.
enum CallResult: Sendable {
    case value(JSONValue)
    case text(JSONText)

    var json: JSONValue {
        switch self {
        case .value(let value): value
        case .text(let text): text.json
        }
    }
}
