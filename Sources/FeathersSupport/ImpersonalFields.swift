/// Header fields that don't identify the sender, so that any server may receive them.
package enum ImpersonalFields {
    /// The lowercase names of the fields that describe the request, its body, and the response it accepts.
    /// `X-Service-Method` is the name of a custom method.
    package static let names: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding",
        "content-language", "content-location", "content-type", "expect", "idempotency-key", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "pragma", "prefer", "range",
        "user-agent", "x-service-method",
    ]
}
