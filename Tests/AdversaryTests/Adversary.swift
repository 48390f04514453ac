import Feathers
import TestBackend

/// What the suites against hostile servers share.
enum Adversary {
    /// Their own, so that floods delay no other suite's server.
    static let backend = TestBackend(variables: [:])

    /// How long an attempt to connect, or a call, may take where only its deadline ends it.
    static let shortDeadline = Duration.milliseconds(500)

    /// The same where the end must come by itself.
    static let longDeadline = Duration.seconds(20)

    /// What a busy machine and the goodbye of a connection may add.
    static let allowance = Duration.seconds(5)

    /// The right answer to a read of this record, or to its creation.
    static func record(_ number: Int, padding: Int = 0) -> JSONValue {
        var record: JSONObject = ["id": .integer(Int64(number)), "text": "right"]
        if padding > 0 { record["padding"] = .string(String(repeating: "x", count: padding)) }
        return .object(record)
    }
}
