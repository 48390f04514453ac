/// A JSON object: keys in the order they were written, as JavaScript keeps them.
///
/// The order is part of what Feathers sends (`$sort`), yet no part of equality.
public struct JSONObject: Sendable {
}
