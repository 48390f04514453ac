/// How dates stand in JSON.
public enum JSONDateFormat: Hashable, Sendable {
    /// `2024-01-02T03:04:05.678Z`, as JavaScript's `toJSON` writes dates.
    ///
    /// Reading accepts any fraction of a second, or none, and offsets such as `+02:00`.
    case iso8601
    /// A number of milliseconds since 1970, as JavaScript's `getTime` gives it.
    case millisecondsSince1970
    /// A number of seconds since 1970.
    case secondsSince1970
}
