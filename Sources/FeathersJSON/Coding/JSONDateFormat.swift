#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How dates stand in JSON.
public enum JSONDateFormat: Sendable {
    /// `2024-01-02T03:04:05.678Z`, as JavaScript's `toJSON` writes dates.
    ///
    /// Reading accepts any fraction of a second, or none, and offsets such as `+02:00`.
    case iso8601
    /// `2024-01-02T03:04:05Z`, for servers that refuse fractions. A fraction is cut off in writing; reading accepts what ``iso8601`` accepts.
    case iso8601WithoutFraction
    /// A number of milliseconds since 1970, as JavaScript's `getTime` gives it.
    case millisecondsSince1970
    /// A number of seconds since 1970.
    case secondsSince1970
    /// A form of your own. What either function throws is reported with the coding path of the date.
    case custom(encode: @Sendable (Date) throws -> JSONValue, decode: @Sendable (JSONValue) throws -> Date)
}
