#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How `Data` stands in JSON.
public enum JSONDataFormat: Sendable {
    /// A string in Base64 (RFC 4648, section 4).
    case base64
    /// A form of your own. What either function throws is reported with the coding path of the data.
    case custom(encode: @Sendable (Data) throws -> JSONValue, decode: @Sendable (JSONValue) throws -> Data)
}
