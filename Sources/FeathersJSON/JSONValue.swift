/// Any JSON value.
///
/// Integers stay integers: what fits `Int64` is never rounded through a `Double`.
public enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)
}
